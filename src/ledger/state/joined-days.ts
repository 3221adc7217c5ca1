import type { Entry } from '../../identity/proofs/history.js'
import { addCounters, countersOf, countersOfOperation, dayOf } from '../storage/rows/day-rows.js'
import type { StagedRows } from '../storage/rows/row-reader.js'
import { type DayCounters, tables } from '../storage/rows/tables.js'

/** Numbers of operations are bytes. */
const operationNumbers = 256

/** Counts the days of a state by its blocks and the entries of its leaves, as `makeDays` counts them by their rows. */
export class JoinedDays {
  readonly #days = new Map<number, DayCounters>()
  /** Operations by day and number: there are millions of them, and few of these. */
  readonly #operations = new Map<number, number>()
  /** Time of the block before; undefined for the genesis block. */
  #before: number | undefined

  /** Counts the next block, from block 1 on. */
  block(time: number, count: number): void {
    this.#add(
      dayOf({ time }),
      countersOf({ header: { time }, transactions: [] }, { before: this.#before, fees: 0n, count }),
    )
    this.#before = time
  }

  operation(entry: Pick<Entry, 'operation' | 'time'>): void {
    const id = dayOf(entry) * operationNumbers + entry.operation
    this.#operations.set(id, (this.#operations.get(id) ?? 0) + 1)
  }

  /** Stages the rows. */
  put(rows: Pick<StagedRows, 'put'>): void {
    for (const [id, number] of this.#operations) {
      this.#add(Math.floor(id / operationNumbers), countersOfOperation(id % operationNumbers), BigInt(number))
    }
    for (const [day, counters] of this.#days) rows.put(tables.day.key(day), tables.day.encode(counters))
  }

  #add(day: number, counters: DayCounters, factor?: bigint): void {
    this.#days.set(day, addCounters(this.#days.get(day), counters, factor))
  }
}
