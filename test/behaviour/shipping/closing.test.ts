import { expect, it } from 'vitest'
import { systemTimers } from '../../../src/base/runtime/process-env.js'
import { ShippedChain } from '../../support/builders/shipped-chain.js'

it.each(['state', 'load', 'put', 'ready', 'finish'] as const)(
  'a node whose shards are being filled closes within a second when one is silent at "%s"',
  async (moment) => {
    const node = await ShippedChain.open(2, 21)
    await node.expectSame()
    await node.shipper.close()
    for (const shard of [0, 1]) node.engine.lose(shard)
    node.engine.calls.length = 0
    node.engine.at = (at, shard) => {
      if (at === moment && shard === 1) return new Promise(() => {})
    }
    const shipper = node.newShipper({}, node.chain, systemTimers)
    await expect.poll(() => node.engine.calls.filter((call) => call === moment).length).toBeGreaterThan(1)
    const began = performance.now()
    await shipper.close()
    await node.chain.close()
    expect(performance.now() - began).toBeLessThan(1000)
    node.engine.at = () => {}
    await node.start()
    await node.expectSame()
    await node.close()
  },
)

it('a shard that begins to take rows after the node closed is given up', async () => {
  const node = await ShippedChain.open(1, 22)
  await node.expectSame()
  await node.shipper.close()
  node.engine.lose(0)
  let begin: () => void = () => {}
  node.engine.at = (at) => (at === 'load' ? new Promise<void>((resolve) => (begin = resolve)) : undefined)
  const shipper = node.newShipper({}, node.chain, systemTimers)
  await expect.poll(() => node.engine.calls.at(-1)).toBe('load')
  await shipper.close()
  begin()
  node.engine.at = () => {}
  const free = () =>
    node.engine.load(0).then(
      (load) => load.close(),
      (error: unknown) => error,
    )
  await expect.poll(free).toBeUndefined()
  await node.close()
})
