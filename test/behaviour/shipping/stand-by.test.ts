import { afterEach, describe, expect, it } from 'vitest'
import { EngineDown } from '../../../src/ledger/engine/engine-down.js'
import { withoutValidators } from '../../support/builders/chain.js'
import { ShippedChain } from '../../support/builders/shipped-chain.js'

/** Milliseconds after which a node of these tests takes the place of another one; that one is there every few of them. */
const standBy = 400

const nodes: ShippedChain[] = []
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.close()
})

/** Two nodes of the same chain with the same shards: one that ships, and one that stands by with so many blocks. */
async function twoNodes(options: { standBy?: number } = {}, blocks = 9): Promise<[ShippedChain, ShippedChain]> {
  const first = await ShippedChain.open(2, 51)
  nodes.push(first)
  await first.stop()
  await first.start(options)
  for (let i = 0; i < 5; i++) await first.advance(0)
  await first.expectSame()
  const second = await ShippedChain.over(first.engine, 52, { standBy })
  nodes.push(second)
  await second.chain.mineEmpty(blocks)
  return [first, second]
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))
const epochs = async (node: ShippedChain) => (await node.states()).map((state) => state?.epoch)

describe('a node that stands by', () => {
  it('leaves shards to the node that ships to them, and takes its place once that is gone', async () => {
    const [first, second] = await twoNodes()
    await pause(3 * standBy)
    expect(second.shipper.figures).toMatchObject({ isStandingBy: true, end: undefined })
    await first.advance(0)
    await first.expectSame()
    await first.stop()
    const left = performance.now()
    await second.shipped()
    expect(performance.now() - left).toBeGreaterThan(standBy / 2)
    await second.expectSame()
    expect(await epochs(second)).toEqual([2, 2])
    expect(second.shipper.figures.isStandingBy).toBe(false)
    await first.start()
    expect(await first.ended()).toBe('ship-foreign')
  })

  it('stands by again after it was replaced, and comes back', async () => {
    const [first, second] = await twoNodes({ standBy }, 30)
    await first.stop()
    await second.expectSame()
    await first.start({ standBy })
    await first.chain.mineEmpty(40)
    await expect.poll(() => first.shipper.figures.isStandingBy).toBe(true)
    await second.stop()
    await first.expectSame()
    expect(await epochs(first)).toEqual([3, 3])
    await second.start({ standBy })
  })

  it('waits until it has the blocks that the shards have', async () => {
    const [first, second] = await twoNodes({}, 1)
    const { height } = first.chain.reader
    await first.stop()
    await pause(2 * standBy)
    expect(await epochs(second)).toEqual([1, 1])
    await second.chain.mineEmpty(height - 2)
    await pause(standBy)
    expect([second.chain.reader.height, await epochs(second)]).toEqual([height - 1, [1, 1]])
    await second.chain.mineEmpty(1)
    await second.expectSame()
    expect(await epochs(second)).toEqual([2, 2])
    await first.start()
  })

  it('takes no shards that did not answer for a while: the node that ships could not get there either', async () => {
    const [first, second] = await twoNodes()
    let isDown = true
    first.engine.at = (_, shard) => {
      if (isDown) throw new EngineDown(shard, 'down')
    }
    await pause(2 * standBy)
    isDown = false
    await first.advance(0)
    await first.expectSame()
    expect(await epochs(first)).toEqual([1, 1])
    expect(second.shipper.figures.isStandingBy).toBe(true)
  })

  it('fills shards again by itself that lost batches, or whose outbox became full', async () => {
    const node = await ShippedChain.open(2, 53)
    nodes.push(node)
    await node.stop()
    node.backlog = 20_000
    await node.start({ standBy })
    await node.advance(0)
    await node.expectSame()
    node.engine.at = (_, shard) => {
      throw new EngineDown(shard, 'down')
    }
    while (node.chain.database.outbox.position !== undefined) await node.advance(0)
    node.engine.at = () => {}
    await node.expectSame()
    expect(await epochs(node)).toEqual([2, 2])
  })

  it('leaves shards of another chain alone, and ends', async () => {
    const [first] = await twoNodes()
    const other = await ShippedChain.over(first.engine, 54, {
      standBy,
      spec: { ...withoutValidators, time: 1_600_000_000 },
    })
    nodes.push(other)
    await other.chain.mineEmpty(2)
    expect(await other.ended()).toBe('ship-foreign')
  })
})
