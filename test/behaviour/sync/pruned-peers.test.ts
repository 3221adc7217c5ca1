import { afterEach, describe, expect, it } from 'vitest'
import { serves } from '../../../src/network/fetch/peer-progress.js'
import { blocksExchange } from '../../../src/network/wire/blocks-message.js'
import { recentBlocks, services, servicesOf } from '../../../src/network/wire/status-message.js'
import { oneValidator, TestChain, withoutValidators } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { longChain, statusOf, SyncNode, TestPeer } from '../../support/network/sync.js'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const length = recentBlocks + 12

/** A peer that has given up its first blocks, and says so. */
function pruned(source: TestChain): TestPeer {
  return new TestPeer(source, { services: services.recentBlocks }).answering(blocksExchange, async (hashes, honest) => {
    const given = await honest()
    const lowest = source.chain.tip.header.height - recentBlocks
    return given.map((bytes, i) => {
      const height = source.chain.headers.get(hashes[i] as Uint8Array)?.header.height ?? 0
      return height > lowest ? bytes : new Uint8Array(0)
    })
  })
}

describe.each([
  ['with a validator', oneValidator()],
  ['without validators', withoutValidators],
])('on a chain %s a peer that prunes', (_, overrides) => {
  it('is asked for no block by a node far behind, which another peer brings up, and for new blocks then', async () => {
    const source = await longChain(overrides, length)
    closing.push(() => source.close())
    const [peer, whole] = [pruned(source), new TestPeer(source)]
    const node = await SyncNode.start(overrides, [peer])
    closing.push(() => node.close())
    const end = node.target.clock.time + 20_000
    await node.until(() => node.target.clock.time > end)
    // Its headers are proved: the node knows that it is behind, and says why it stays there.
    expect(peer.asked.get('blocks')).toBeUndefined()
    expect(node.sync.progress()).toMatchObject({
      stage: 'waiting',
      catchingUp: true,
      height: 0,
      target: length,
      reason: 'all peers have given up the next block, since they prune',
    })

    node.join(whole)
    await node.until(() => node.height === length)
    whole.close('it leaves')
    await source.mine(3)
    peer.status = { ...statusOf(source), services: services.recentBlocks }
    node.events.emit('status', peer)
    await node.until(() => node.height === length + 3)
    expect([peer.penalties, whole.penalties, peer.closed]).toEqual([[], [], false])
  })
})

it.each([
  ['with a validator', oneValidator()],
  ['without validators', withoutValidators],
])('on a chain %s a peer that has just given up what its status names costs nothing for it', async (_, overrides) => {
  const source = await longChain(overrides, 40)
  closing.push(() => source.close())
  const peer = new TestPeer(source, { services: services.recentBlocks }).answering(blocksExchange, (hashes) =>
    Promise.resolve(hashes.map(() => new Uint8Array(0))),
  )
  const node = await SyncNode.start(overrides, [peer])
  closing.push(() => node.close())
  await node.until(() => (peer.asked.get('blocks') ?? 0) > 0)
  const end = node.target.clock.time + 20_000
  await node.until(() => node.target.clock.time > end)
  expect([peer.penalties, peer.closed]).toEqual([[], false])
  node.join(new TestPeer(source))
  await node.until(() => node.height === 40)
})

it('a node that gives up documents says so to its peers, and serves none of the blocks that it lacks', async () => {
  const source = await TestChain.open(withoutValidators)
  closing.push(() => source.close())
  const ada = holder()
  const created = await source.publish(ada.create(), ada.did)
  await source.publish(ada.update(created), ada.did)
  await source.mineEmpty(recentBlocks)
  expect(servicesOf(source.chain)).toBe(services.wholeChain)
  await source.chain.exclusive(({ pruneDocuments }) => pruneDocuments(2))
  expect(servicesOf(source.chain)).toBe(services.recentBlocks)

  const peer = new TestPeer(source, { services: servicesOf(source.chain) })
  const node = await SyncNode.start(withoutValidators, [peer])
  closing.push(() => node.close())
  const end = node.target.clock.time + 20_000
  await node.until(() => node.target.clock.time > end)
  expect(peer.asked.get('blocks')).toBeUndefined()
  expect(node.sync.progress()).toMatchObject({ stage: 'waiting', height: 0, target: recentBlocks + 2 })
  expect([peer.penalties, peer.closed]).toEqual([[], false])
})

it('services are none where what was given up is nearer than the blocks that peers rely on', () => {
  const chain = { prunes: false, prunedHeight: 0, prunesDocuments: true, tip: { header: { height: 1000 } } }
  const from = (supersededHeight: number) => servicesOf({ ...chain, supersededHeight })
  expect([0, 1000 - recentBlocks, 1001 - recentBlocks].map(from)).toEqual([
    services.recentBlocks,
    services.recentBlocks,
    0,
  ])
})

it('a peer serves from a height on what it says that it has', () => {
  const peer = (bits: number, closed = false) => ({ status: { services: bits, tipHeight: 1000 }, closed }) as TestPeer
  const lowest = 1000 - recentBlocks + 1
  expect(serves(peer(services.wholeChain), 1)).toBe(true)
  expect(serves(peer(services.recentBlocks), lowest)).toBe(true)
  expect(serves(peer(services.recentBlocks), lowest - 1)).toBe(false)
  expect(serves(peer(services.recentBlocks | services.wholeChain), 1)).toBe(true)
  expect(serves(peer(0), 1000)).toBe(false)
  expect(serves(peer(services.wholeChain, true), 1000)).toBe(false)
})
