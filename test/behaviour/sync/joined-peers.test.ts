import { afterEach, describe, expect, it } from 'vitest'
import type { Chain } from '../../../src/ledger/chain/chain.js'
import { servesEnd, servesHeaders } from '../../../src/network/fetch/peer-progress.js'
import { recentBlocks, services, servicesOf } from '../../../src/network/wire/status-message.js'
import { busyChain, stateHeight } from '../../support/builders/busy-chain.js'
import { oneValidator, type TestChain, withoutValidators } from '../../support/builders/chain.js'
import { joinedNode, passBlocks } from '../../support/builders/joined-chain.js'
import { statusOf, SyncNode, TestPeer } from '../../support/network/sync.js'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const tip = 335

/** A node that took a state, has so many blocks above it that peers take them, and says what it has. */
async function joined(source: TestChain, overrides: Parameters<typeof joinedNode>[1]): Promise<TestPeer> {
  const node = await joinedNode(source, overrides)
  closing.push(() => node.close())
  await passBlocks(source, node.chain, [stateHeight + 1, tip])
  return new TestPeer(node, { services: servicesOf(node.chain) })
}

const asked = ({ asked: counts }: TestPeer) => [counts.get('headers') ?? 0, counts.get('blocks') ?? 0]

describe.each([
  ['with a validator', { ...oneValidator(), producer: 'sponsor' as const, coinInterval: 330 }],
  ['of work', { ...withoutValidators, coinInterval: 330 }],
])('on a chain %s a peer that took a state', (_, overrides) => {
  it('is asked for nothing by a node below it, which others bring up, and for new blocks then', async () => {
    const source = await busyChain(overrides)
    closing.push(() => source.close())
    const peer = await joined(source, overrides)
    expect(peer.status.services).toBe(services.recentBlocks | services.recentHeaders)
    const node = await SyncNode.start(overrides, [peer])
    closing.push(() => node.close())
    const end = node.target.clock.time + 20_000
    await node.until(() => node.target.clock.time > end)
    expect(asked(peer)).toEqual([0, 0])
    expect(node.sync.progress()).toMatchObject({
      stage: 'waiting',
      catchingUp: false,
      height: 0,
      reason: 'no peer serves the next block: some say that they began with a state',
    })
    // It may not say what does not exist.
    expect(node.sync.beyond.met).toBe(false)

    const whole = new TestPeer(source)
    node.join(whole)
    await node.until(() => node.height === tip)
    whole.close('it leaves')
    await source.mine(3)
    await passBlocks(source, peer.source.chain, [tip + 1, tip + 3])
    peer.status = { ...statusOf(peer.source), services: servicesOf(peer.source.chain) }
    node.events.emit('status', peer)
    await node.until(() => node.height === tip + 3)
    expect([peer.penalties, whole.penalties, peer.closed]).toEqual([[], [], false])
  })
})

it('a node that began with a state says that it has the headers of its last blocks alone, until it has all', () => {
  const chain = (changes: object) =>
    servicesOf({
      prunes: true,
      prunedHeight: 42,
      joinedHeight: 42,
      prunesDocuments: false,
      supersededHeight: 0,
      tip: { header: { height: 42 + recentBlocks } },
      ...changes,
    } as unknown as Chain)
  expect(chain({})).toBe(services.recentBlocks | services.recentHeaders)
  expect(chain({ tip: { header: { height: 41 + recentBlocks } } })).toBe(0)
  expect(chain({ joinedHeight: 0 })).toBe(services.recentBlocks)
  expect(chain({ prunes: false, prunedHeight: 0, joinedHeight: 0 })).toBe(services.wholeChain)
})

it('a peer serves headers from a height on by what it says that it has', () => {
  const peer = (bits: number, closed = false) => ({ status: { services: bits, tipHeight: 1000 }, closed }) as TestPeer
  const lowest = 1000 - recentBlocks + 1
  const ends = services.recentBlocks | services.recentHeaders
  const looks = [
    [services.wholeChain, 1, true],
    [services.recentBlocks, 1, true],
    [ends, lowest, true],
    [ends, lowest - 1, false],
    [ends | services.wholeChain, 1, true],
    [services.recentHeaders, 1000, false],
    [0, 1000, false],
  ] as const
  for (const [bits, from, serves] of looks) {
    expect({ bits, from, serves: servesHeaders(peer(bits), from) }).toEqual({ bits, from, serves })
    expect(servesHeaders(peer(bits, true), from)).toBe(false)
  }
  expect([ends, services.recentBlocks, services.wholeChain | ends, 0].map((bits) => servesEnd(peer(bits)))).toEqual([
    true,
    false,
    false,
    false,
  ])
})
