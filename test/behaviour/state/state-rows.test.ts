import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createInlineVerifier } from '../../../src/base/crypto/inline.js'
import { SignatureCache } from '../../../src/base/crypto/signature-cache.js'
import { Chain } from '../../../src/ledger/chain/chain.js'
import { checkRecentBlocks } from '../../../src/ledger/chain/check-recent-blocks.js'
import { readBlockBytes } from '../../../src/ledger/chain/read-body.js'
import { verifyPruned } from '../../../src/ledger/chain/verify-pruned.js'
import { checkState } from '../../../src/ledger/state/check-state.js'
import { readParts, stateFile } from '../../../src/ledger/state/parts.js'
import { StateRows } from '../../../src/ledger/state/state-rows.js'
import { latestState, stateParts, type WritingOptions } from '../../../src/ledger/state/write-state.js'
import { checkJournal } from '../../../src/ledger/storage/care/check-journal.js'
import { Database } from '../../../src/ledger/storage/database.js'
import { dayCounters, tables } from '../../../src/ledger/storage/rows/tables.js'
import { busyChain, stateHeight as state } from '../../support/builders/busy-chain.js'
import { memoryStore, oneValidator, quietLog, type TestChain, withoutValidators } from '../../support/builders/chain.js'

const verifier = createInlineVerifier()

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

/** The chain of a node that takes the latest state of another chain. */
async function joined(test: TestChain, options?: WritingOptions): Promise<Chain> {
  const { spec, clock } = test
  const store = memoryStore()
  const fresh = await Database.over(store)
  const rows = await StateRows.begin(fresh, spec)
  const parts = readParts(stateFile(stateParts(test.chain, latestState(test.chain), options)))
  await rows.finish(await checkState(parts, { spec, verifier, clock, taker: rows }))
  await fresh.close()
  const database = await Database.over(store)
  const { fromHeight } = await checkJournal(database)
  const chain = await Chain.open({ spec, database, verifier, signatures: new SignatureCache(), clock, log: quietLog() })
  await checkRecentBlocks(chain, { fromHeight })
  return chain
}

async function pass(from: TestChain, to: Chain, [first, last]: readonly [number, number]): Promise<void> {
  for (let height = first; height <= last; height++) {
    const known = from.activeHeader(height)
    const confirm = from.database.get(tables.confirm.key(known.header.hash))
    await to.acceptBlock(await readBlockBytes(from.database, known), confirm)
  }
}

/** A node that connects every block. */
async function whole({ spec, clock }: TestChain): Promise<Chain> {
  const database = await Database.over(memoryStore())
  return Chain.open({ spec, database, verifier, signatures: new SignatureCache(), clock, log: quietLog() })
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
    chain = await joined(test, { leavesAtOnce: 2, bytes: 3_000 })
    other = await whole(test)
    await pass(test, other, [1, state])
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
    await pass(test, chain, [state + 1, tip])
    await pass(test, other, [state + 1, tip])
    expect(await comparable(chain.database, state)).toEqual(await comparable(other.database, state))
    expect(await verifyPruned(chain)).toBeUndefined()
  })
})
