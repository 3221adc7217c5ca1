import { describe, expect, it } from 'vitest'
import { displayHash } from '../../../src/base/primitives/bytes.js'
import { ShippedChain } from '../../support/builders/shipped-chain.js'
import { rounds } from '../../support/process/thorough.js'

const blocks = rounds(60, 600)

describe.each([1, 3])('the rows of %i shards', (shards) => {
  it('are those of the node, through reorganisations and engines that fail at any moment', async () => {
    const node = await ShippedChain.open(shards, 4711)
    for (let i = 0; i < blocks; i++) {
      if (i % 10 === 3) node.fail(3)
      if (i % 10 === 8) node.engine.at = () => {}
      await node.advance()
      if (i % 10 === 9) await node.expectSame()
    }
    await node.close()
  })

  it('are those of the node when it ends at any moment and starts again', async () => {
    const node = await ShippedChain.open(shards, 4712)
    // A filling takes so many calls that it would hardly ever end.
    await node.expectSame()
    node.fail(4)
    for (let i = 0; i < blocks; i++) {
      await node.advance()
      if (i % 5 < 4) continue
      await node.stop()
      await node.start()
      if (i % 3 === 0) await node.expectSame()
    }
    await node.expectSame()
    await node.close()
  })

  it('show no tip that the node has not shown', async () => {
    const node = await ShippedChain.open(shards, 4713)
    await node.expectSame()
    const shown = new Set<string>()
    const look = () => shown.add(displayHash(node.chain.chain.tip.header.hash))
    look()
    node.chain.chain.events.on('change', look)
    const tips: string[] = []
    for (let shard = 0; shard < shards; shard++) {
      const watch = async () => tips.push(displayHash((await node.engine.state(shard))?.hash ?? Buffer.alloc(32)))
      node.engine.watch(shard, () => void watch())
    }
    for (let i = 0; i < 40; i++) {
      await node.advance(8)
      look()
    }
    await node.expectSame()
    expect(tips.length).toBeGreaterThan(20)
    expect(tips.filter((tip) => !shown.has(tip))).toEqual([])
    await node.close()
  })
})
