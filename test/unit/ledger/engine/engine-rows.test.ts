import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { EngineDown } from '../../../../src/ledger/engine/engine-down.js'
import { RowMiss } from '../../../../src/ledger/engine/engine-failures.js'
import { EngineRows } from '../../../../src/ledger/engine/engine-rows.js'
import { meta, tables } from '../../../../src/ledger/storage/rows/tables.js'
import { quietLog, TestChain, withoutValidators } from '../../../support/builders/chain.js'
import { Resolver } from '../../../../src/answers/resolver/resolver.js'
import { holder } from '../../../support/builders/did.js'
import { inStep } from '../../../support/fakes/standing.js'
import type { EngineRow } from '../../../../src/ledger/engine/row-engine.js'
import { LedgerEngine } from '../../../support/fakes/ledger-engine.js'

let node: TestChain
let engine: LedgerEngine
let rows: EngineRows
const shards = 3

beforeEach(async () => {
  node = await TestChain.open(withoutValidators)
  await node.mineEmpty(5)
  engine = new LedgerEngine(node, shards)
  rows = await EngineRows.open({ engine, log: quietLog() })
})
afterEach(async () => {
  await rows.close()
  await node.close()
})

/** Number of statements that work takes. */
async function statementsOf(work: () => Promise<unknown>): Promise<number> {
  const before = engine.reads.reduce((sum, one) => sum + one, 0)
  await work()
  return engine.reads.reduce((sum, one) => sum + one, 0) - before
}

/** A resolver of the node's chain over rows of an engine. */
function resolverOver(database: EngineRows): Resolver {
  const { chain, clock, prover } = node
  const tip = () => chain.tip.header
  return new Resolver({ database, prover, clock, tip, standing: () => inStep(tip().height) })
}

const transactionKeys = () => [1, 2, 3].map((height) => tables.transaction.key(height, 0))
const activeAt = (height: number) => rows.settle(() => rows.get(tables.active.key(height)))

describe('rows of another engine', () => {
  it('are missed, fetched, and read at once from then on', async () => {
    const key = tables.active.key(3)
    expect(() => rows.get(key)).toThrow(RowMiss)
    expect(await activeAt(3)).toEqual(node.database.get(key))
    expect(rows.get(key)).toEqual(node.database.get(key))
    // The header that follows came with it.
    expect(rows.get(tables.header.key(rows.get(key) as Buffer))).toBeDefined()
  })

  it('are known to be missing', async () => {
    const key = tables.active.key(4000)
    expect(await rows.settle(() => rows.get(key))).toBeUndefined()
    expect(await statementsOf(async () => rows.get(key))).toBe(0)
  })

  it('are asked of each shard once in a turn, whoever wants them', async () => {
    const wanted = transactionKeys()
    const all = () => Promise.all(wanted.map((key) => rows.settle(() => rows.get(key))))
    expect(await statementsOf(all)).toBeLessThanOrEqual(2 * shards)
    expect(await all()).toEqual(wanted.map((key) => node.database.get(key)))
  })

  it('of a DID come in three statements, and its document is read again once', async () => {
    const ada = holder()
    await node.publish(ada.create(), ada.did)
    await node.mineEmpty(1)
    const single = new LedgerEngine(node)
    const cold = await EngineRows.open({ engine: single, log: quietLog() })
    const before = single.reads[0] as number
    expect(await resolverOver(cold).resolve(ada.did, {})).toMatchObject({ status: 0 })
    expect([(single.reads[0] as number) - before, cold.counts.replays]).toEqual([3, 1])
    await cold.close()
  })

  it('of the first page of a search come in four statements, of a further one in three', async () => {
    for (let i = 0; i < 45; i++) {
      const person = holder()
      await node.publish(person.create({ services: [{ id: '#a', type: 'About', serviceEndpoint: 'x:y' }] }), person.did)
    }
    const single = new LedgerEngine(node)
    const cold = await EngineRows.open({ engine: single, log: quietLog() })
    const resolver = resolverOver(cold)
    const taken: number[] = []
    for (const skip of [0, 20, 40]) {
      const before = single.reads[0] as number
      expect((await resolver.query({ service: 'About', skip, limit: 20 })).total).toBe(45)
      taken.push((single.reads[0] as number) - before)
    }
    expect(taken).toEqual([4, 3, 3])
    await cold.close()
  })

  it('are those of the node in every kind of range, from both ends', async () => {
    for (const table of [tables.active, tables.transaction, tables.location, tables.undo, tables.addressCoin]) {
      for (const options of [{}, { limit: 2 }, { reverse: true }, { reverse: true, limit: 3 }]) {
        const range = table.range()
        const text = (found: readonly [Buffer, Buffer][]) => found.map((row) => row.map((one) => one.toString('hex')))
        expect(text(await rows.rows(range, options))).toEqual(text(await node.database.rows(range, options)))
      }
    }
    const scanned: unknown[] = []
    for await (const row of rows.scan(tables.transaction.range())) scanned.push(row)
    expect(scanned).toEqual(await node.database.rows(tables.transaction.range()))
  })

  it('move with the tip, and work that began before runs again', async () => {
    let runs = 0
    const heights: number[] = []
    const work = rows.settle(async () => {
      runs++
      heights.push(meta.tip.decode(rows.get(meta.tip.key) as Buffer).height)
      if (runs === 1) await node.mineEmpty(1)
      // Read after the block: of another state.
      return (await rows.rows(tables.active.range(), { reverse: true, limit: 1 }))[0]?.[0]
    })
    expect(tables.active.fields((await work) as Buffer)[0]).toBe(6)
    expect([runs, heights]).toEqual([2, [5, 6]])
  })

  it('of a state are not read once they are of another one', async () => {
    const frozen = rows.freeze()
    const before = await frozen.rows(tables.active.range())
    await node.mineEmpty(1)
    await expect.poll(() => rows.state.height).toBe(6)
    await expect(frozen.rows(tables.active.range())).rejects.toThrow('of another state')
    expect(() => frozen.get(meta.tip.key)).toThrow('of another state')
    expect(before).toHaveLength(6)
  })

  it('are refused where one is not as the node wrote it: shard and key are named, the value is not', async () => {
    const key = tables.active.key(2)
    engine.change = ([of, sealed]) => {
      if (of.equals(key)) sealed.writeUInt8(sealed.readUInt8(0) ^ 1, 0)
      return [of, sealed]
    }
    await expect(activeAt(2)).rejects.toMatchObject({
      code: 'row-damaged',
      message: `shard 0 has row ${key.toString('hex')} not as the node wrote it; load the shard again`,
    })
    await expect(rows.rows(tables.active.range())).rejects.toMatchObject({ code: 'row-damaged' })
  })

  it('are refused to those alone who want the one that is not as it was written', async () => {
    const key = tables.active.key(2)
    engine.change = ([of, sealed]) => [of, of.equals(key) ? Buffer.alloc(sealed.length) : sealed]
    const [damaged, ...others] = await Promise.allSettled([2, 1, 3, 4].map(activeAt))
    expect(damaged).toMatchObject({ status: 'rejected', reason: { code: 'row-damaged' } })
    expect(others.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled'])
  })

  it.each<[string, (found: EngineRow[]) => EngineRow[]]>([
    ['in another order', (found) => found.toReversed()],
    ['of another range', (found) => found.map(([, sealed], i) => [tables.transaction.key(i, 0), sealed])],
    ['twice', (found) => [...found.slice(0, 1), ...found]],
  ])('are refused where the engine gives those of a range %s', async (_, order) => {
    engine.order = order
    await expect(rows.rows(tables.active.range())).rejects.toMatchObject({ code: 'row-damaged' })
  })

  it('are refused while a shard does not answer, but for those in memory, and come back with it', async () => {
    await activeAt(1)
    engine.hold = (shard) => {
      if (shard > 0) throw new EngineDown(shard, 'gone')
    }
    expect(await activeAt(1)).toBeDefined()
    const some = () => rows.settle(() => transactionKeys().map((key) => rows.get(key)))
    await expect(some()).rejects.toMatchObject({ code: 'shard-down' })
    engine.hold = () => {}
    expect((await some()).every((row) => row !== undefined)).toBe(true)
  })

  it('are refused while shards show several states, and read once these show one', async () => {
    const behind = await engine.hideAfter(2)
    await node.mineEmpty(1)
    await expect(rows.settle(() => transactionKeys().map((key) => rows.get(key)))).rejects.toMatchObject({
      code: 'shards-apart',
    })
    behind()
    expect(await activeAt(6)).toEqual(node.database.get(tables.active.key(6)))
  })

  it('are refused once the shards have other parts of them', async () => {
    const stream = 'the rows are divided anew'
    engine.describe = (state) => ({ ...state, stream, number: state.number % 2, shards: 2 })
    engine.moved()
    await expect(rows.settle(() => transactionKeys().map((key) => rows.get(key)))).rejects.toMatchObject({
      code: 'shard-down',
    })
    expect(rows.fault).toBeDefined()
  })

  it('are refused once they are those of another chain', async () => {
    const other = await TestChain.open({ ...withoutValidators, name: 'other' })
    engine.show(other)
    await node.mineEmpty(1)
    await expect(activeAt(6)).rejects.toMatchObject({ code: 'shard-down' })
    await other.close()
  })
})
