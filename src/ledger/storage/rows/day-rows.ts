import type { Coin } from '../../consensus/ledger.js'
import type { Block } from '../../../base/primitives/block.js'
import { Reader } from '../../../base/primitives/codec.js'
import { canFollow, formOfNumber, type OperationForm, operationForm } from '../../../base/primitives/did-operation.js'
import { type Header, readParentHeader } from '../../../base/primitives/header.js'
import { txType } from '../../../base/primitives/payload.js'
import type { Transaction } from '../../../base/primitives/transaction.js'
import { present, putOrDelete, type StagedRows } from './row-reader.js'
import { type DayCounters, dayCounters, tables } from './tables.js'

/** One row for each day in UTC: sums over its blocks, which are added with the rows of a block and subtracted when it is taken back. */

export const secondsOfDay = 86_400

/** A block whose day is counted. */
interface CountedBlock {
  readonly header: Pick<Header, 'height' | 'time' | 'previous'>
  readonly transactions: Block['transactions']
}

/** The day of a block, in days since 1970. */
export function dayOf({ time }: Pick<Header, 'time'>): number {
  return Math.floor(time / secondsOfDay)
}

export const noCounters = Object.fromEntries(dayCounters.map((name) => [name, 0n])) as unknown as DayCounters

/**
 * Counters of one block. `before`: time of the block before it, undefined where that is the genesis block, whose time the spec
 * chooses. `count`: number of its transactions, where some were given up.
 */
export function countersOf(
  { header, transactions }: { readonly header: Pick<Header, 'time'>; readonly transactions: readonly Transaction[] },
  { before, fees, count = transactions.length }: { before: number | undefined; fees: bigint; count?: number },
): DayCounters {
  const counters: Record<keyof DayCounters, bigint> = { ...noCounters, blocks: 1n, fees }
  counters.transactions = BigInt(count - 1)
  for (const { payload } of transactions) {
    const form = payload.type === txType.did ? operationForm(payload.operation) : undefined
    if (form !== undefined) counters[counterOf(form)]++
  }
  if (before === undefined) return counters
  counters.intervals = 1n
  counters.seconds = BigInt(header.time - before)
  return counters
}

/** Counters of one operation, by its number. */
export function countersOfOperation(operation: number): DayCounters {
  return { ...noCounters, [counterOf(present(formOfNumber(operation), 'the form of an operation'))]: 1n }
}

function counterOf(form: OperationForm): keyof DayCounters {
  if (form.subject === 'credential') return 'credentials'
  if (form.effect === 'end') return 'deactivations'
  return canFollow(form, undefined) ? 'creations' : 'updates'
}

/** The sum of counters, or with the factor -1 their difference. */
export function addCounters(to: DayCounters | undefined, counters: DayCounters, factor = 1n): DayCounters {
  const sums: Record<keyof DayCounters, bigint> = { ...(to ?? noCounters) }
  for (const name of dayCounters) sums[name] += factor * counters[name]
  return sums
}

/** The fees of a block, by the coins that its transactions behind the coinbase spent. */
export function feesOf([, ...transactions]: readonly Transaction[], spent: readonly (readonly Coin[])[]): bigint {
  const sumOf = (parts: readonly { readonly value: bigint }[]) => parts.reduce((sum, { value }) => sum + value, 0n)
  return transactions.reduce((fees, { outputs }, i) => fees + sumOf(spent[i] ?? []) - sumOf(outputs), 0n)
}

/** Stages that a connected block counts. */
export function addToDay(rows: StagedRows, block: CountedBlock, fees: bigint): void {
  stage(rows, block, fees, 1n)
}

/** Stages that a block that is taken back counts no more. */
export function takeFromDay(rows: StagedRows, block: CountedBlock, spent: readonly (readonly Coin[])[]): void {
  stage(rows, block, feesOf(block.transactions, spent), -1n)
}

function stage(rows: StagedRows, block: CountedBlock, fees: bigint, factor: bigint): void {
  const { header } = block
  if (header.height === 0) return
  const counters = countersOf(block, { before: timeBefore(rows, header), fees })
  const sums = addCounters(tables.day.get(rows, dayOf(header)), counters, factor)
  putOrDelete(rows, tables.day.key(dayOf(header)), sums.blocks === 0n ? undefined : tables.day.encode(sums))
}

function timeBefore(rows: StagedRows, { height, previous }: Pick<Header, 'height' | 'previous'>): number | undefined {
  if (height === 1) return undefined
  const row = present(rows.get(tables.header.key(previous)), `the header of height ${height - 1}`)
  // It begins with the header.
  return readParentHeader(new Reader(row)).time
}
