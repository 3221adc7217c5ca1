import { eachSteps, type Steps } from '../../../base/primitives/steps.js'
import type { JournalKind } from '../rows/journal-row.js'
import type { Rows } from '../rows/row-reader.js'
import type { BatchRows, RowChange } from './batch-rows.js'
import type { CoinCache } from './coin-cache.js'

/** Row changes of one batch, in their order. */
export interface Changes {
  readonly count: number
  /** Puts them into the batch. */
  steps(rows: BatchRows): Steps
}

/** Rows by {@link mapKey} of their key, in the order of insertion; a row without value is deleted. */
export type RowMap = ReadonlyMap<string, RowChange>

/** Description of a batch, for its journal row. */
export interface CommitInfo {
  readonly kind: JournalKind
  readonly height: number
  readonly hash: Uint8Array
}

/** Rows below changes; with `commit` those of a database. */
export interface RowsBelow extends Rows {
  /** Cache of the writer; undefined while readers are held at earlier rows. */
  readonly coins?: CoinCache | undefined
  commit?(changes: Changes | Promise<Changes>, info: CommitInfo, options: { sync: boolean }): Promise<void>
}

/** Rows put into a batch in one step. */
const rowsAtOnce = 16

/** The changes in a map of rows. */
export function changesOf(changed: RowMap): Changes {
  const steps = (rows: BatchRows) => eachSteps(changed.values(), (row) => rows.change(row), rowsAtOnce)
  return { count: changed.size, steps }
}
