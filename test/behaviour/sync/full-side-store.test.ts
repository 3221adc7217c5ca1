import { afterEach, describe, expect, it } from 'vitest'
import { sideBlockLimit } from '../../../src/ledger/chain/side-blocks.js'
import { stateDigest } from '../../../src/ledger/chain/replay-chain.js'
import { blocksExchange } from '../../../src/network/wire/blocks-message.js'
import type { Block } from '../../../src/base/primitives/block.js'
import { equalBytes } from '../../../src/base/primitives/bytes.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { craftBlock } from '../../support/builders/blocks.js'
import { memoryStore, type Store, TestChain, withoutValidators } from '../../support/builders/chain.js'
import { until } from '../../support/network/relay-node.js'
import { openSocketNode } from '../../support/network/socket-node.js'
import { longChain, SyncNode, TestPeer } from '../../support/network/sync.js'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

function kept<T extends { close(): Promise<void> }>(thing: T): T {
  closing.push(() => thing.close())
  return thing
}

const forkHeight = 25

async function blockAt({ reader }: TestChain, height: number): Promise<Block> {
  const known = reader.headerAt(height)
  if (known === undefined) throw new Error(`no block at height ${height}`)
  return reader.block(known)
}

async function stored({ database }: TestChain): Promise<number> {
  return (await database.keys(tables.sideBody.range())).length
}

/** A chain of 35 blocks that left the one of `shared` at {@link forkHeight}; its store holds all the side blocks it can. */
async function fullChain(shared: TestChain, store: Store = memoryStore()): Promise<TestChain> {
  const own = await TestChain.open(withoutValidators, { store })
  for (let height = 1; height <= forkHeight; height++) await own.accept(await blockAt(shared, height))
  await own.mine(10)
  // As heavy as the tip, so heavier than the first blocks of every branch from further below.
  const parent = own.activeHeader(own.chain.tip.header.height - 1)
  while ((await stored(own)) < sideBlockLimit) {
    for (let i = 0; i < 128; i++)
      expect(await own.chain.acceptBlock(craftBlock(own.chain, { parent }).bytes)).toBe('side')
  }
  expect(await stored(own)).toBe(sideBlockLimit)
  return own
}

describe('a node on the lighter branch, with a store full of side blocks', () => {
  it('goes over to the heavier branch of a peer, and keeps the bound', async () => {
    const shared = kept(await longChain(withoutValidators, forkHeight))
    const own = await fullChain(shared)
    await shared.mine(20)
    const peer = new TestPeer(shared)
    const node = kept(await SyncNode.start(withoutValidators, [peer], { target: own }))
    let most = 0
    await node.until(() => {
      void stored(own).then((count) => (most = Math.max(most, count)))
      return node.height === shared.chain.tip.header.height
    }, 60)
    expect(own.chain.tip.header.id).toBe(shared.chain.tip.header.id)
    expect(await stateDigest(own.database)).toBe(await stateDigest(shared.database))
    expect([peer.penalties, peer.closed]).toEqual([[], false])
    // The blocks that it left came in addition, at once.
    expect(most).toBeLessThanOrEqual(sideBlockLimit + 10)
  })

  it('does so over sockets, also after a restart', async () => {
    const shared = await longChain(withoutValidators, forkHeight)
    const store = memoryStore()
    const before = await fullChain(shared, store)
    await before.close()
    const own = await TestChain.open(withoutValidators, { store })
    await shared.mine(20)
    const ahead = kept(await openSocketNode([], shared))
    const behind = kept(await openSocketNode([ahead.address], own))
    await until(() => behind.test.chain.tip.header.id === shared.chain.tip.header.id, 'the heavier branch')
    expect(ahead.network.peers.all()).toHaveLength(1)
  })

  it('keeps what it has of the heavier branch while junk as heavy as its own tip goes on coming', async () => {
    const { own, node, peer, isAside, goOn } = await halfway()
    const parent = own.activeHeader(34)
    for (let i = 0; i < 50; i++) {
      const junk = craftBlock(own.chain, { parent })
      await expect(own.chain.acceptBlock(junk.bytes)).rejects.toMatchObject({ code: 'block-unsettled-full' })
    }
    expect(isAside()).toBe(true)
    goOn()
    await node.until(() => node.height === peer.source.chain.tip.header.height, 60)
    expect([peer.penalties, peer.closed]).toEqual([[], false])
  })

  it('fetches blocks of it again that had to go before it was known as the best', async () => {
    const { own, node, peer, isAside, goOn, pursuing } = await halfway()
    pursuing.off()
    for (let i = 0; isAside() && i < 5; i++) {
      await own.chain.acceptBlock(craftBlock(own.chain, { parent: own.activeHeader(34) }).bytes)
    }
    expect(isAside()).toBe(false)
    pursuing.on()
    goOn()
    await node.until(() => node.height === peer.source.chain.tip.header.height, 60)
    expect([peer.penalties, peer.closed]).toEqual([[], false])
  })
})

/** A node with a full store that has five blocks of the heavier branch, and gets no more until `goOn`. */
async function halfway() {
  const shared = kept(await longChain(withoutValidators, forkHeight))
  const own = await fullChain(shared)
  await shared.mine(20)
  let withheld = true
  const [last, late] = [await blockAt(shared, 30), await blockAt(shared, 31)]
  const peer = new TestPeer(shared).answering(blocksExchange, async (hashes, honest) => {
    const at = hashes.findIndex((hash) => equalBytes(hash, late.header.hash))
    while (withheld && at === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    const blocks = await honest()
    return withheld && at > 0 ? blocks.slice(0, at) : blocks
  })
  const pursue = own.chain.pursue.bind(own.chain)
  let best: Parameters<typeof pursue>[0]
  own.chain.pursue = (next) => pursue((best = next))
  const node = kept(await SyncNode.start(withoutValidators, [peer], { target: own }))
  const isAside = () => own.chain.headers.get(last.header.hash)?.status === 'side'
  await node.until(isAside, 10)
  const pursuing = { off: () => pursue(undefined), on: () => pursue(best) }
  return { own, node, peer, isAside, goOn: () => (withheld = false), pursuing }
}
