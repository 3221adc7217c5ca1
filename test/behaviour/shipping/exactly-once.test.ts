import { describe, expect, it } from 'vitest'
import { displayHash } from '../../../src/base/primitives/bytes.js'
import { ShippedChain } from '../../support/builders/shipped-chain.js'
import { rounds } from '../../support/process/thorough.js'

const blocks = rounds(40, 600)

/** Of a run of blocks one in so many is followed by a reorganisation, and one of so many of these is as deep as they may be. */
const [eachFork, eachDeep] = [12, 10]
const deepest = rounds(30, 288)

it('the rows of three shards are those of the node after reorganisations as deep as they may be, with faults', async () => {
  const node = await ShippedChain.open(3, 4714)
  const many = rounds(120, 1000)
  let forks = 0
  for (let i = 1; i <= many; i++) {
    if (i % 10 === 3) node.fail(3)
    if (i % 10 === 8) node.engine.at = () => {}
    if (i % eachFork === 0) await node.reorganise(forks++ % eachDeep === eachDeep - 1 ? deepest : 1 + (forks % 8))
    else await node.advance(0)
    if (i % 100 === 0) await node.expectSame()
  }
  expect(forks).toBe(Math.floor(many / eachFork))
  node.engine.at = () => {}
  await node.expectSame()
  await node.close()
})

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
