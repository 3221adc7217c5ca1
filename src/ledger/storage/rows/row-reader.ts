import type { Coin } from '../../consensus/ledger.js'
import { damaged } from '../failure.js'

/** A synchronous source of rows. */
export interface RowReader {
  get(key: Buffer): Uint8Array | undefined
  /** Returns a coin by its `outpointKey` without its row: null if it was spent, undefined if unknown. */
  knownCoin?(key: string): Coin | null | undefined
}

/** A source of rows, one or many at a time. */
export interface Rows extends Pick<RowReader, 'get'> {
  getMany(wanted: Buffer[]): Promise<(Uint8Array | undefined)[]>
}

/** Rows with changes that wait for a batch: reads see the changes. */
export interface StagedRows extends Rows {
  put(key: Buffer, value: Uint8Array): void
  del(key: Buffer): void
}

/** Puts a row as it was at another time; undefined: it did not exist. */
export function putOrDelete(rows: StagedRows, key: Buffer, value: Uint8Array | undefined): void {
  if (value === undefined) rows.del(key)
  else rows.put(key, value)
}

/** A row that the database must hold; otherwise it contradicts itself. */
export function present<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw damaged(`${what} is missing`)
  return value
}
