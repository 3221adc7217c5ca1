import { SignatureCache } from '../../../src/base/crypto/signature-cache.js'
import { TestChain } from './chain.js'
import { holder } from './did.js'
import { Crowd, random } from './random-chain.js'
import type { SpecOverrides } from './spec.js'

const seed = Number(process.env['DIDLEDGER_SEED'] ?? 1)

/** Height of the latest state of a {@link busyChain} with a `coinInterval` of 330. */
export const stateHeight = 330 - 288

/** A chain whose people pay, keep DIDs, and declare and revoke credentials, before and after {@link stateHeight}. */
export async function busyChain(overrides: SpecOverrides): Promise<TestChain> {
  const test = await TestChain.open(overrides, { signatures: new SignatureCache() })
  const crowd = new Crowd(random(seed))
  const [ada, bea] = [holder(), holder()]
  await test.publish(ada.create(), ada.did)
  await test.publish(bea.create(), bea.did)
  const declare = (name: string) => test.publish(ada.declare(ada.issue(ada.did, { id: `${ada.did}#${name}` })), ada.did)
  const acts = async (count: number) => {
    for (let i = 0; i < count; i++) {
      for (let some = 0; some < 3; some++) await crowd.act(test)
      test.clock.time += 1000
      await test.mine()
    }
  }
  await declare('one')
  await declare('two')
  await acts(20)
  await test.publish(bea.deactivate(), bea.did)
  await test.mineEmpty(stateHeight - test.reader.height)
  // What comes later is no part of the state: also of leaves that it has.
  await test.publish(ada.revoke(`${ada.did}#one`), ada.did)
  await declare('three')
  await acts(8)
  await test.mineEmpty(335 - test.reader.height)
  return test
}
