import { afterEach, describe, expect, it } from 'vitest'
import { confirmByHeight } from '../../../src/answers/api/results/block-results.js'
import { BlockRelay } from '../../../src/network/relay/blocks-relay.js'
import { headersExchange } from '../../../src/network/wire/headers-message.js'
import { confirmVotes } from '../../../src/voting/confirm-votes.js'
import { oneValidator, TestChain } from '../../support/builders/chain.js'
import { longChain, SyncNode, TestPeer } from '../../support/network/sync.js'

const nodes: SyncNode[] = []
const chains: TestChain[] = []

afterEach(async () => {
  for (const node of nodes.splice(0)) await node.close()
  for (const chain of chains.splice(0)) await chain.close()
})

async function start(peers: readonly TestPeer[], options: Parameters<typeof SyncNode.start>[2] = {}) {
  const node = await SyncNode.start(oneValidator(), peers, options)
  nodes.push(node)
  return node
}

/** A node that assumed height 50 of 60, of whose headers a peer made up the confirms that are `forged`. */
async function misled(forged: (height: number) => boolean) {
  const source = await longChain(oneValidator(), 60)
  chains.push(source)
  const assumeValid = { height: 50, hash: source.chain.headers.activeHash(50) as Uint8Array }
  const liar = new TestPeer(source).answering(headersExchange, async (_question, honest) =>
    (await honest()).map((unit) => {
      const confirm = Uint8Array.from(unit.confirm)
      if (forged(unit.header.height)) confirm[confirm.length - 1]! ^= 1
      return { ...unit, confirm }
    }),
  )
  const node = await start([liar], { assumeValid })
  await node.until(() => node.height === 60)
  return { source, node: node.target }
}

describe('confirms of blocks that were assumed to be valid', () => {
  it('are handed on where they hold, each verified once', async () => {
    const { node } = await misled(() => false)
    const peer = new TestPeer(node)
    expect(confirmVotes(node.chain, 50)).toEqual([])
    for (let i = 0; i < 2; i++) {
      const follower = await start([peer])
      await follower.until(() => follower.height === 60)
    }
    expect([peer.penalties, peer.closed]).toEqual([[], false])
    expect(confirmVotes(node.chain, 50)).toHaveLength(1)
    expect(node.chain.assumedConfirms.holds(1)).toBe(true)
  })

  it('are not handed on where they do not hold, and nobody pays for that', async () => {
    const { source, node } = await misled((height) => height === 30)
    const peer = new TestPeer(node)
    const follower = await start([peer])
    await follower.until(() => follower.height === 29)
    for (let asked = 0; asked < 4;) {
      follower.advance(10_000)
      await new Promise((resolve) => setTimeout(resolve, 2))
      asked = peer.asked.get('headers') ?? 0
    }
    follower.join(new TestPeer(source))
    await follower.until(() => follower.height === 60)
    expect([peer.penalties, peer.closed]).toEqual([[], false])
    expect(confirmVotes(node.chain, 29)).toHaveLength(1)
    expect(confirmVotes(node.chain, 30)).toEqual([])
    expect(confirmVotes(node.chain, 55)).toHaveLength(1)
  })

  it('are not shown by the interfaces where they do not hold', async () => {
    const { node } = await misled((height) => height === 30)
    await expect(confirmByHeight(node.reader, 30)).rejects.toMatchObject({ code: 'unknown-confirm' })
    expect(await confirmByHeight(node.reader, 29)).toMatch(/^\{/)
  })

  it('give way to right ones, which then prove answers', async () => {
    const { source, node } = await misled((height) => height === 30)
    const anchor = () => node.prover.change(node.chain.tip.header, { height: 30 })
    await expect(anchor()).rejects.toMatchObject({ code: 'proof-unavailable' })
    const again = async (confirm: Uint8Array) => {
      const block = await source.reader.block(source.reader.headerAt(30)!)
      return node.chain.acceptBlock(block.bytes, confirm)
    }
    const right = source.confirmFor(await source.reader.block(source.reader.headerAt(30)!)) as Uint8Array
    const wrong = Uint8Array.from(right)
    wrong[wrong.length - 2]! ^= 1
    for (const confirm of [wrong, Uint8Array.of(1)]) expect(await again(confirm)).toBe('known')
    await expect(confirmByHeight(node.reader, 30)).rejects.toMatchObject({ code: 'unknown-confirm' })
    expect(await again(right)).toBe('known')
    expect(await confirmByHeight(node.reader, 30)).toMatch(/^\{/)
    expect(confirmVotes(node.chain, 30)).toHaveLength(1)
    expect(await anchor()).toEqual(await source.prover.change(source.chain.tip.header, { height: 30 }))
  })

  it('are not told of as a new tip', async () => {
    const source = await longChain(oneValidator(), 3)
    chains.push(source)
    const target = await TestChain.open(oneValidator())
    chains.push(target)
    target.clock.time = source.clock.time
    const told: unknown[] = []
    const peers = { listen: () => {}, broadcast: (_subject: unknown, unit: unknown) => told.push(unit) }
    const sync = { announced: () => Promise.resolve(true), progress: () => ({ catchingUp: false }) }
    new BlockRelay({ chain: target.chain, peers, sync }).start()
    const blocks = await Promise.all(
      [1, 2, 3].map(async (height) => {
        const block = await source.reader.block(source.reader.headerAt(height)!)
        return { block: block.bytes, confirm: source.confirmFor(block) as Uint8Array }
      }),
    )
    await target.chain.acceptBlocks(blocks.slice(0, 2), { assumed: true })
    expect(told).toEqual([])
    await target.chain.acceptBlocks(blocks.slice(2))
    expect(told).toHaveLength(1)
  })
})
