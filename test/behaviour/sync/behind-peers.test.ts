import { afterEach, beforeEach, expect, it } from 'vitest'
import { createInlineVerifier } from '../../../src/base/crypto/inline.js'
import { SignatureCache } from '../../../src/base/crypto/signature-cache.js'
import { services } from '../../../src/network/wire/status-message.js'
import { type Core, openCore } from '../../../src/node/core.js'
import { TestChain, withoutValidators } from '../../support/builders/chain.js'
import { ManualTime } from '../../support/fakes/manual-time.js'
import { addressOf, identityOf, MemoryNetwork } from '../../support/network/memory-network.js'
import { longChain } from '../../support/network/sync.js'

const length = 30
const opened: { close(): Promise<unknown> }[] = []
let source: TestChain
let time: ManualTime
let network: MemoryNetwork

beforeEach(async () => {
  source = await longChain(withoutValidators, length)
  opened.push(source)
  time = new ManualTime(source.clock.time)
  network = new MemoryNetwork({ time })
})
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close()
})

/** A node of a number, with a chain, that dials that of another number. */
async function core(number: number, chain: TestChain, dials?: number, follows = false): Promise<Core> {
  const { publicKey } = identityOf(number)
  const peers = dials === undefined ? [] : [addressOf(dials)]
  const one = await openCore({
    ...{ chain: chain.chain, verifier: createInlineVerifier(), signatures: new SignatureCache(), follows },
    env: { clock: time, timers: time, log: chain.log, random: { bytes: (bytes) => new Uint8Array(bytes) } },
    peering: {
      transport: network.plug(number, { publicKey }),
      publicKey,
      settings: { peers, outbound: 0, inbound: 8 },
    },
  })
  opened.push(one)
  await one.start()
  return one
}

async function emptyChain(): Promise<TestChain> {
  const chain = await TestChain.open(withoutValidators)
  opened.push(chain)
  return chain
}

/** What the peers of a node say of whether their tips show it the chain. */
function told({ network: own }: Core): number[] {
  return (own?.peers.all() ?? []).map(({ status }) => status.services & services.showsNothing)
}

async function until(holds: () => boolean): Promise<void> {
  for (let second = 0; !holds(); second++) {
    expect(second).toBeLessThan(120)
    await time.advance(1_000)
  }
}

it('a node that lacks blocks says so to its peers, and that it has them, within seconds', async () => {
  let isWithheld = true
  network.weather.loss = (name) => (isWithheld && name === 'blocks' ? 1 : 0)
  const last = await emptyChain()
  await core(1, source)
  const joining = await core(2, await emptyChain(), 1)
  const beside = await core(3, last, 2)

  await until(() => joining.network?.sync.progress().catchingUp === true)
  await time.advance(3_000)
  expect(told(beside)).toEqual([services.showsNothing])
  expect(beside.network?.sync.beyond.met).toBe(false)
  isWithheld = false
  await until(() => last.chain.tip.header.height === length)
  await time.advance(3_000)
  expect(told(beside)).toEqual([0])
  expect(beside.network?.sync.beyond.met).toBe(true)
})

it('a follower shows the chain to every node but the one that it follows', async () => {
  const followed = await core(1, source)
  const chain = await emptyChain()
  const follower = await core(2, chain, 1, true)
  const other = await emptyChain()
  const beside = await core(3, other, 2)

  await until(() => other.chain.tip.header.height === length)
  await time.advance(3_000)
  expect([told(followed), followed.network?.sync.beyond.met]).toEqual([[services.showsNothing], false])
  expect([told(beside), beside.network?.sync.beyond.met]).toEqual([[0], true])
  expect(follower.network?.sync.beyond.met).toBe(true)
})
