import { createInlineVerifier } from '../../../src/base/crypto/inline.js'
import { SignatureCache } from '../../../src/base/crypto/signature-cache.js'
import { toHex } from '../../../src/base/primitives/bytes.js'
import { parseConfirm, proposalHash } from '../../../src/base/primitives/confirm.js'
import { Chain } from '../../../src/ledger/chain/chain.js'
import { checkRecentBlocks } from '../../../src/ledger/chain/check-recent-blocks.js'
import { readBlockBytes } from '../../../src/ledger/chain/read-body.js'
import { checkState } from '../../../src/ledger/state/check-state.js'
import { readParts, stateFile } from '../../../src/ledger/state/parts.js'
import { StateRows } from '../../../src/ledger/state/state-rows.js'
import { latestState, stateParts, type WritingOptions } from '../../../src/ledger/state/write-state.js'
import { checkJournal } from '../../../src/ledger/storage/care/check-journal.js'
import { Database } from '../../../src/ledger/storage/database.js'
import { dayCounters, meta, tables } from '../../../src/ledger/storage/rows/tables.js'
import { memoryStore, quietLog, type Store, TestChain } from './chain.js'
import { memoryScratch } from './memory-scratch.js'
import type { SpecOverrides } from './spec.js'

const verifier = createInlineVerifier()

/** A database that took the latest state of another chain. */
async function joinedStore(test: TestChain, options?: WritingOptions): Promise<Store> {
  const { spec, clock } = test
  const store = memoryStore()
  const fresh = await Database.over(store)
  const rows = await StateRows.begin(fresh, spec, memoryScratch)
  const parts = readParts(stateFile(stateParts(test.chain, latestState(test.chain), options)))
  await rows.finish(await checkState(parts, { spec, verifier, clock, taker: rows }))
  await rows.close()
  await fresh.close()
  return store
}

/** The chain of a node that takes the latest state of another chain, with pool and reader. */
export async function joinedNode(test: TestChain, overrides: SpecOverrides): Promise<TestChain> {
  const node = await TestChain.open(overrides, { store: await joinedStore(test) })
  node.clock.time = test.clock.time
  return node
}

/** The chain of a node that takes the latest state of another chain. */
export async function joinedChain(test: TestChain, options?: WritingOptions): Promise<Chain> {
  const { spec, clock } = test
  const database = await Database.over(await joinedStore(test, options))
  const { fromHeight } = await checkJournal(database)
  const chain = await Chain.open({ spec, database, verifier, signatures: new SignatureCache(), clock, log: quietLog() })
  await checkRecentBlocks(chain, { fromHeight })
  return chain
}

/** Has a chain connect blocks of another one, from a height to another. */
export async function passBlocks(from: TestChain, to: Chain, [first, last]: readonly [number, number]): Promise<void> {
  for (let height = first; height <= last; height++) {
    const known = from.activeHeader(height)
    const confirm = from.database.get(tables.confirm.key(known.header.hash))
    await to.acceptBlock(await readBlockBytes(from.database, known), confirm)
  }
}

/** A node that connects every block. */
export async function wholeChain({ spec, clock }: TestChain): Promise<Chain> {
  const database = await Database.over(memoryStore())
  return Chain.open({ spec, database, verifier, signatures: new SignatureCache(), clock, log: quietLog() })
}

type Rows = Map<string, string>

/** All rows of a table, in hex. */
export async function rowsOf(database: Database, { range }: { range(): { gte: Buffer; lt: Buffer } }): Promise<Rows> {
  const found: Rows = new Map()
  for await (const [key, value] of database.scan(range())) found.set(key.toString('hex'), value.toString('hex'))
  return found
}

/** Rows that a state gives a node as they are in one that connected every block. */
const equalTables = [
  ...['active', 'location', 'coin', 'addressCoin', 'balance', 'didHead', 'didOperation', 'didDocument'],
  ...['credential', 'declared', 'declaredCount', 'ordinal', 'posting', 'tokenCount', 'mapPage', 'sideChain'],
] as const as readonly (keyof typeof tables)[]

/** The rows that are compared of two nodes with one tip, of which one took the state after block `from` from others. */
export async function comparable(database: Database, from: number): Promise<Record<string, unknown>> {
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

/** Rows of which a node has those of the last blocks, and may lack some of below a state that it took. */
const recentTables = ['indexUndo', 'mapPageBefore'] as const

/** Rows that follow from the active chain alone, of a node that lacks nothing (any more). */
export async function wholeRows(database: Database): Promise<Record<string, Rows>> {
  const rows: Record<string, Rows> = {}
  const more = ['transaction', 'history', 'undo', 'day'] as const
  for (const name of [...equalTables, ...more]) rows[name] = await rowsOf(database, tables[name] as never)
  const tip = { gte: meta.tip.key, lt: Buffer.concat([meta.tip.key, Buffer.of(0)]) }
  rows['tip'] = await rowsOf(database, { range: () => tip })
  // Nodes may have other votes, or have them in another order.
  rows['confirm'] = new Map()
  for (const [key, row] of await database.rows(tables.confirm.range())) {
    rows['confirm'].set(key.toString('hex'), toHex(proposalHash(parseConfirm(row).proposal)))
  }
  rows['header'] = new Map()
  for (const [key, row] of await database.rows(tables.header.range())) {
    // No hash of a chain binds every bit of a proof of work: another one that holds may have come.
    const { arrival, auxPow, ...header } = tables.header.decode(row)
    void [arrival, auxPow]
    if (header.status === 'active') rows['header'].set(key.toString('hex'), plain(header))
  }
  rows['mapRoot'] = new Map()
  for (const [key, row] of await database.rows(tables.mapRoot.range())) {
    rows['mapRoot'].set(key.toString('hex'), Buffer.from(tables.mapRoot.decode(row).root).toString('hex'))
  }
  return rows
}

/** Rows of the last blocks that both of two nodes have, one after the other. */
export async function recentRows(
  one: Database,
  other: Database,
): Promise<[Record<string, Rows>, Record<string, Rows>]> {
  const both: [Record<string, Rows>, Record<string, Rows>] = [{}, {}]
  for (const name of recentTables) {
    const [mine, theirs] = [await rowsOf(one, tables[name] as never), await rowsOf(other, tables[name] as never)]
    both[0][name] = new Map([...mine].filter(([key]) => theirs.has(key)))
    both[1][name] = new Map([...theirs].filter(([key]) => mine.has(key)))
  }
  return both
}

function plain(value: object): string {
  const text = (_: string, one: unknown) => (typeof one === 'bigint' ? String(one) : one)
  return JSON.stringify(value, text)
}
