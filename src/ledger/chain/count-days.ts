import type { Entry } from '../../identity/proofs/history.js'
import type { Coin } from '../consensus/ledger.js'
import { Transaction } from '../../base/primitives/transaction.js'
import { runCooperatively } from '../../base/runtime/cooperative.js'
import type { Database } from '../storage/database.js'
import { damaged } from '../storage/failure.js'
import { addCounters, countersOf, countersOfOperation, dayOf, feesOf } from '../storage/rows/day-rows.js'
import { joinedHeight, prunedHeight, supersededHeight } from '../storage/rows/prune-rows.js'
import { present } from '../storage/rows/row-reader.js'
import { type DayCounters, type Location, meta, tables, type TipRow } from '../storage/rows/tables.js'
import { Overlay } from '../storage/write/overlay.js'
import type { HeaderIndex } from './header-index.js'

/** Makes and checks the counters of days from the blocks. A pruned block gives all of them but its fees. */

interface CountedChain {
  readonly database: Database
  readonly headers: HeaderIndex
}

/** Days with their counters, and the last day of which some fees are not known; -1: none. */
interface CountedDays {
  readonly days: ReadonlyMap<number, DayCounters>
  readonly incomplete: number
}

/** Counts the days of a chain whose database has not all of them. All are one batch, so a kill before it does no harm. */
export async function makeDays(
  chain: CountedChain,
  tip: TipRow,
  progress: (done: number, total: number) => void = () => {},
): Promise<void> {
  const { database } = chain
  const { days } = await countDays(chain, tip.height, progress)
  const overlay = new Overlay(database)
  for (const [key] of await database.rows(tables.day.range())) overlay.del(key)
  for (const [day, counters] of days) overlay.put(tables.day.key(day), tables.day.encode(counters))
  meta.days.put(overlay, feelessHeight(database))
  await overlay.commit({ kind: 'layout', ...tip }, { sync: false })
}

/** Throws a damage where the counters of a day are not those of its blocks, as far as these tell. */
export async function checkDays(chain: CountedChain, { height }: Pick<TipRow, 'height'>): Promise<void> {
  const { days, incomplete } = await countDays(chain, height)
  const rows = await chain.database.rows(tables.day.range())
  const areRight = rows.every(([key, row]) => {
    const [day] = tables.day.fields(key)
    const [counters, { fees }] = [days.get(day), tables.day.decode(row)]
    return counters && row.equals(tables.day.encode(day <= incomplete ? { ...counters, fees } : counters))
  })
  if (!areRight || rows.length !== days.size) throw damaged('the counters of days are not those of the blocks')
}

async function countDays(
  { database, headers }: CountedChain,
  top: number,
  progress: (done: number, total: number) => void = () => {},
): Promise<CountedDays> {
  const feeless = feelessHeight(database)
  const joined = joinedHeight(database)
  const days = feeless === 0 ? new Map<number, DayCounters>() : await lackingOperations(database)
  let incomplete = -1
  let before: number | undefined
  for (let height = 1; height <= top; height++) {
    const { header, transactionCount: count } = headers.activeAt(height)
    const transactions = height > joined ? await transactionsAt(database, height) : []
    const fees = height > feeless ? feesOf(transactions, spentAt(database, height)) : 0n
    const day = dayOf(header)
    days.set(day, addCounters(days.get(day), countersOf({ header, transactions }, { before, fees, count })))
    if (height <= feeless) incomplete = day
    before = header.time
    progress(height, top)
  }
  return { days, incomplete }
}

/** The highest block of which not all transactions are there, or the coins that they spent. */
function feelessHeight(database: Database): number {
  return Math.max(prunedHeight(database), supersededHeight(database))
}

/** Counters of the operations that no block tells: up to a state that was taken from others, and those that were given up. */
async function lackingOperations(database: Database): Promise<Map<number, DayCounters>> {
  const [joined, superseded] = [joinedHeight(database), supersededHeight(database)]
  const days = new Map<number, DayCounters>()
  const add = ({ operation, height, time, index }: Entry & Pick<Location, 'index'>) => {
    const isLacking =
      height <= joined || (height <= superseded && tables.givenUp.get(database, height, index) !== undefined)
    if (!isLacking) return
    const day = dayOf({ time })
    days.set(day, addCounters(days.get(day), countersOfOperation(operation)))
  }
  for await (const [, row] of database.scan(tables.didOperation.range())) add(tables.didOperation.decode(row))
  for await (const [, row] of database.scan(tables.credential.range())) tables.credential.decode(row).forEach(add)
  return days
}

function spentAt(database: Database, height: number): readonly (readonly Coin[])[] {
  return present(tables.undo.get(database, height), `the undo record of height ${height}`).spent
}

/** The transactions that the block at a height has; without its transfers and coinbase, where it gave them up. */
async function transactionsAt(database: Database, height: number): Promise<Transaction[]> {
  const transactions: Transaction[] = []
  for (const [, bytes] of await database.rows(tables.transaction.range(height))) {
    transactions.push(await runCooperatively(Transaction.fromBytesSteps(bytes)))
  }
  return transactions
}
