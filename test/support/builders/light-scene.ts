import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import { LightResolver, type LightOptions } from '../../../src/clients/light/light-resolver.js'
import { toHex } from '../../../src/base/primitives/bytes.js'
import { contextOf, serve } from '../client/api.js'
import { bookOf } from './chain-book.js'
import { TestChain } from './chain.js'
import { type Holder, holder } from './did.js'
import type { ProofBook } from './proof-book.js'
import { type SpecOverrides, testPublicKey } from './spec.js'

/** A real chain behind a real port, with all of which there are proofs. */

export const keysOf = (count: number) => Array.from({ length: count }, (_, person) => toHex(testPublicKey(person)))
/** Blocks above that of an answer, on chains without validators. */
export const minedDepth = 6

/** A chain with credentials and changes of validators, and what it says. */
export interface Scene {
  readonly test: TestChain
  readonly book: ProofBook
  readonly server: ApiServer
  readonly alice: Holder
  readonly dave: Holder
  readonly ids: Readonly<Record<'kept' | 'revoked' | 'foreign' | 'unknown', string>>
}

export async function sceneOf(overrides: SpecOverrides): Promise<Scene> {
  const test = await TestChain.open(overrides)
  const [alice, dave] = [holder(), holder()]
  const ids = {
    kept: `${alice.did}#profile`,
    revoked: `${alice.did}#other`,
    foreign: `${alice.did}#foreign`,
    unknown: `${alice.did}#none`,
  }
  const created = await test.publish(alice.create(), alice.did)
  await test.publish(dave.create(), dave.did)
  await test.publish(alice.update(created, { expires: '2029-01-01T00:00:00Z' }), alice.did)
  await test.publish(alice.declare(dave.issue(alice.did)), alice.did)
  await test.publish(alice.declare(dave.issue(alice.did, { id: ids.revoked })), alice.did)
  await test.publish(dave.revoke(ids.revoked), dave.did)
  await test.publish(dave.revoke(ids.foreign), dave.did)
  await test.mine(minedDepth + 2)
  const server = await serve(contextOf(test))
  return { test, book: await bookOf(test), server, alice, dave, ids }
}

export async function closeScene({ server, test }: Pick<Scene, 'server' | 'test'>): Promise<void> {
  await server.close()
  await test.close()
}

/** Four validators, then others. */
export const changing: SpecOverrides = {
  validators: keysOf(4),
  upgrades: [
    { height: 4, name: 'more', parameters: { validators: keysOf(7) } },
    { height: 6, name: 'none', parameters: { fees: { minimum: '1', perByte: '1' } } },
    { height: 8, name: 'fewer', parameters: { validators: keysOf(1) } },
    { height: 40, name: 'later', parameters: { validators: keysOf(3) } },
  ],
}

/** A light resolver that knows the node of a scene. */
export function lightIn(
  { server, book }: Pick<Scene, 'server' | 'book'>,
  options: Partial<LightOptions> = {},
): LightResolver {
  return new LightResolver({
    servers: [`http://127.0.0.1:${server.port}`],
    trust: book.trust(),
    now: () => book.tip.time * 1000,
    allowOldRoot: true,
    ...options,
  })
}
