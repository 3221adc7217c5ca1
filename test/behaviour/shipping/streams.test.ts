import { expect, it } from 'vitest'
import { EngineDown } from '../../../src/ledger/engine/engine-down.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { oneValidator } from '../../support/builders/chain.js'
import { testAddress } from '../../support/builders/spec.js'
import { ShippedChain } from '../../support/builders/shipped-chain.js'

/** A node with a few blocks, all of them shipped. */
async function shippedNode(seed: number, shards = 2): Promise<ShippedChain> {
  const node = await ShippedChain.open(shards, seed)
  for (let i = 0; i < 5; i++) await node.advance()
  await node.expectSame()
  return node
}

const lastError = ({ log }: ShippedChain) => log.errors.at(-1)

it('shards are left alone by a directory that changed while it did not ship, until it may take them over', async () => {
  const node = await shippedNode(1)
  await node.stop()
  await node.start({ ships: false })
  await node.chain.mine()
  await node.chain.close()
  await node.start()
  expect(await node.ended()).toBe('ship-foreign')
  expect(lastError(node)?.message).toContain(
    'has not kept what they lack; fill them from this directory with "didledger ship load"',
  )
  await node.stop()
  await node.start({ takeOver: true })
  await node.advance()
  await node.expectSame()
  expect((await node.states()).map((state) => state?.epoch)).toEqual([2, 2])
  await node.close()
})

it('a directory that changed nothing while it did not ship continues its stream', async () => {
  const node = await shippedNode(2)
  await node.stop()
  await node.start({ ships: false })
  await node.chain.send(await node.chain.transfer(testAddress(11), 5n))
  await node.chain.close()
  await node.start()
  await node.advance()
  await node.expectSame()
  expect((await node.states()).map((state) => state?.epoch)).toEqual([1, 1])
  await node.close()
})

it('a restored copy that went another way gives its batches to no shard, whichever of both has more of them', async () => {
  for (const more of [0, 3]) {
    const node = await shippedNode(3)
    const copy = await node.copy()
    await node.chain.mine(2)
    await node.expectSame()
    const before = node.engine.rows(0)
    await node.stop()
    node.restore(copy)
    await node.start()
    const { database } = node.chain
    await node.chain.mine(more)
    expect(await node.ended()).toBe('ship-foreign')
    expect(database.outbox.position).toBeDefined()
    expect(node.engine.rows(0)).toEqual(before)
    await node.close()
  }
})

it('of two nodes with shards the one that does not fill them stops', async () => {
  const first = await shippedNode(4)
  // The same shards, from another directory of the same chain.
  const rival = await ShippedChain.over(first.engine, 7, { takeOver: true })
  await rival.shipped()
  await first.chain.mine()
  expect(await first.ended()).toBe('ship-replaced')
  await rival.chain.mine()
  await rival.expectSame()
  await rival.close()
  await first.close()
})

it('an outbox that is full ends the stream; the node goes on, and the shards are filled again', async () => {
  const node = await ShippedChain.open(2, 8)
  await node.expectSame()
  await node.stop()
  node.backlog = 20_000
  await node.start()
  node.engine.at = (_, shard) => {
    throw new EngineDown(shard, 'down')
  }
  while (node.chain.database.outbox.position !== undefined) await node.advance()
  await node.chain.mine(2)
  expect(node.chain.database.outbox.size).toBe(0)
  expect(await node.chain.database.keys(tables.outbox.range())).toEqual([])
  // The shards are still down.
  expect(await node.ended()).toBe('ship-behind')
  expect(lastError(node)?.message).toContain('the outbox became full')
  node.engine.at = () => {}
  await node.stop()
  node.backlog = 2 ** 30
  await node.start({ takeOver: true })
  await node.advance()
  await node.expectSame()
  await node.close()
})

it('an outbox that is full before the shards answered for the first time ends the stream as well', async () => {
  const node = await shippedNode(13)
  await node.stop()
  node.backlog = 20_000
  node.engine.at = (_, shard) => {
    throw new EngineDown(shard, 'down')
  }
  await node.start()
  while (node.chain.database.outbox.position !== undefined) await node.advance()
  expect(node.shipper.figures.end).toBeUndefined()
  node.engine.at = () => {}
  expect(await node.ended()).toBe('ship-behind')
  await node.close()
})

it('a promoted replica that lacks batches which the outbox has deleted is behind', async () => {
  const node = await shippedNode(14)
  node.engine.hold(1, true)
  await node.chain.mine(3)
  await node.expectSame()
  while (node.chain.database.outbox.size > 0) await new Promise(setImmediate)
  node.engine.promote(1)
  await node.chain.mine()
  expect(await node.ended()).toBe('ship-behind')
  expect(lastError(node)?.message).toContain('the data directory has not kept what they lack; fill them')
  await node.close()
})

it('a shard that is restored from before its last filling is behind, and not filled by another node', async () => {
  const node = await shippedNode(15, 1)
  node.engine.hold(0, true)
  await node.stop()
  await node.start({ ships: false })
  await node.chain.mine()
  await node.chain.close()
  await node.start({ takeOver: true })
  await node.shipped()
  node.engine.promote(0)
  await node.chain.mine()
  expect(await node.ended()).toBe('ship-behind')
  await node.close()
})

it('rows wait in the outbox while shards are down, and leave it when all have them', async () => {
  const node = await shippedNode(9)
  let isDown = true
  node.engine.at = (_, shard) => {
    if (isDown && shard === 1) throw new EngineDown(shard, 'down')
  }
  for (let i = 0; i < 10; i++) await node.advance()
  expect(node.chain.database.outbox.size).toBeGreaterThan(1000)
  expect(node.shipper.figures.faults).toBeGreaterThan(0)
  isDown = false
  await node.expectSame()
  while ((await node.chain.database.keys(tables.outbox.range())).length > 0) await new Promise(setImmediate)
  expect(node.chain.database.outbox.size).toBe(0)
  await node.close()
})

it.each(['load', 'put', 'ready', 'finish', 'finished'] as const)(
  'a filling that fails at "%s" is done again',
  async (moment) => {
    const node = await shippedNode(10, 3)
    await node.stop()
    let failures = 0
    node.engine.at = (at, shard) => {
      if (at !== moment || shard !== 1 || failures++ > 0) return
      throw new EngineDown(shard, 'down')
    }
    await node.start({ takeOver: true })
    await node.advance()
    await node.expectSame()
    await node.close()
  },
)

it('a shard that lost its rows is filled while the others wait, and all are the same again', async () => {
  const node = await shippedNode(11, 3)
  await node.stop()
  node.engine.lose(1)
  await node.start()
  await node.advance()
  await node.expectSame()
  await node.close()
})

it('a rewind is a batch like any other, also far back and while shards are down', async () => {
  const node = await ShippedChain.open(3, 12, { ...oneValidator(), devnet: true })
  for (let i = 0; i < 20; i++) await node.advance(0)
  await node.expectSame()
  const rewind = (height: number) => {
    const { chain } = node.chain
    return chain.exclusive((writer) => writer.rewind(chain.headers.activeHash(height) as Uint8Array, []))
  }
  await rewind(node.chain.reader.height - 2)
  await node.expectSame()
  node.engine.at = (_, shard) => {
    if (shard === 2) throw new EngineDown(shard, 'down')
  }
  await rewind(3)
  await node.chain.mine(2)
  node.engine.at = () => {}
  await node.expectSame()
  await node.close()
})
