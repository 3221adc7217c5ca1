import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Chain } from '../../../src/ledger/chain/chain.js'
import { checkRecentBlocks } from '../../../src/ledger/chain/check-recent-blocks.js'
import { verifyPruned } from '../../../src/ledger/chain/verify-pruned.js'
import type { Database } from '../../../src/ledger/storage/database.js'
import { dayCounters, derivedTables, rangeOf, tables } from '../../../src/ledger/storage/rows/tables.js'
import { busyChain, stateHeight as state } from '../../support/builders/busy-chain.js'
import { oneValidator, type TestChain, withoutValidators } from '../../support/builders/chain.js'
import { joinedChain, passBlocks, wholeChain } from '../../support/builders/joined-chain.js'

type Rows = Map<string, string>

async function rowsOf(database: Database, { range }: { range(): { gte: Buffer; lt: Buffer } }): Promise<Rows> {
  const found: Rows = new Map()
  for await (const [key, value] of database.scan(range())) found.set(key.toString('hex'), value.toString('hex'))
  return found
}

/** Rows that a state gives a node as they are in one that connected every block. */
const equalTables = [
  ...['active', 'location', 'coin', 'addressCoin', 'balance', 'didHead', 'didOperation', 'didDocument'],
  ...['credential', 'declared', 'declaredCount', 'ordinal', 'posting', 'tokenCount', 'mapPage', 'sideChain'],
] as const as readonly (keyof typeof tables)[]

/** What is compared of two nodes with one tip, of which one took the state after block `from` from others. */
async function comparable(database: Database, from: number): Promise<Record<string, unknown>> {
  const rows: Record<string, unknown> = {}
  for (const name of equalTables) rows[name] = await rowsOf(database, tables[name] as never)
  rows['headers'] = (await database.rows(tables.header.range())).map(([, row]) => {
    const { header, chainWork, status, transactionCount } = tables.header.decode(row)
    return { header: Buffer.from(header).toString('hex'), chainWork, status, transactionCount }
  })
  rows['days'] = (await database.rows(tables.day.range())).map(([key, row]) => {
    const counters = tables.day.decode(row)
    return [tables.day.fields(key)[0], dayCounters.filter((name) => name !== 'fees').map((name) => counters[name])]
  })
  rows['roots'] = (await database.rows(tables.mapRoot.range()))
    .filter(([key]) => tables.mapRoot.fields(key)[0] >= from)
    .map(([key, row]) => [tables.mapRoot.fields(key)[0], Buffer.from(tables.mapRoot.decode(row).root).toString('hex')])
  const above = { gte: tables.transaction.key(from + 1, 0), lt: tables.transaction.range().lt }
  rows['transactions'] = await rowsOf(database, { range: () => above })
  const undo = { gte: tables.undo.key(from + 1), lt: tables.undo.range().lt }
  rows['undo'] = await rowsOf(database, { range: () => undo })
  return rows
}

describe.each([
  ['with validators', { ...oneValidator(), producer: 'sponsor' as const }],
  ['of work', withoutValidators],
])('the rows of a state of a chain %s', (_, overrides) => {
  let test: TestChain
  let chain: Chain
  let other: Chain
  beforeAll(async () => {
    test = await busyChain({ ...overrides, coinInterval: 330 })
    chain = await joinedChain(test, { leavesAtOnce: 2, bytes: 3_000 })
    other = await wholeChain(test)
    await passBlocks(test, other, [1, state])
  })
  afterAll(async () => {
    await test.close()
    for (const one of [chain, other]) await one.close().finally(() => one.database.close())
  })

  it('are those of a node that connected every block, but for what it has not', async () => {
    expect(chain.tip.header.height).toBe(state)
    expect(await comparable(chain.database, state)).toEqual(await comparable(other.database, state))
    // Nothing is left of what put them in order.
    for (const table of [tables.created, tables.declaring])
      expect(await rowsOf(chain.database, table)).toEqual(new Map())
    const all = await rowsOf(other.database, tables.transaction)
    const had = await rowsOf(chain.database, tables.transaction)
    expect(had.size).toBeLessThan(all.size)
    for (const [key, row] of had) expect(all.get(key)).toBe(row)
    expect(chain.prunedHeight).toBe(state)
    expect(await verifyPruned(chain)).toBeUndefined()
  })

  it('are so with every block that follows', async () => {
    const tip = test.reader.height
    await passBlocks(test, chain, [state + 1, tip])
    await passBlocks(test, other, [state + 1, tip])
    expect(await comparable(chain.database, state)).toEqual(await comparable(other.database, state))
    expect(await verifyPruned(chain)).toBeUndefined()
  })

  it('are all of them once the history below is there, however often it is cut short', async () => {
    const history = await wholeChain(test)
    await passBlocks(test, history, [1, state])
    const cut = AbortSignal.abort(new Error('a stop'))
    await expect(chain.takeHistory(history.database, cut)).rejects.toThrow('a stop')
    expect(chain.joinedHeight).toBe(state)
    // Blocks come meanwhile.
    await test.mine()
    const tip = test.reader.height
    const taken = chain.takeHistory(history.database, new AbortController().signal)
    await Promise.all([taken, passBlocks(test, chain, [tip, tip])])
    await passBlocks(test, other, [tip, tip])
    expect([chain.joinedHeight, chain.prunedHeight]).toEqual([0, 0])
    for (const table of [...derivedTables, tables.confirm.number]) {
      const range = () => rangeOf(table)
      expect({ table, rows: await rowsOf(chain.database, { range }) }).toEqual({
        table,
        rows: await rowsOf(other.database, { range }),
      })
    }
    const headers = async ({ database }: Chain) =>
      (await database.rows(tables.header.range())).map(([, row]) => ({ ...tables.header.decode(row), arrival: 0 }))
    expect(await headers(chain)).toEqual(await headers(other))
    await checkRecentBlocks(chain, { fromHeight: 0 })
    expect(await verifyPruned(chain)).toBeUndefined()
    await history.close()
    await history.database.close()
  })
})
