import { eachSteps, type Steps } from '../../../base/primitives/steps.js'
import type { BatchRows, RowChange } from './batch-rows.js'

/** Row changes of one batch, in their order. */
export interface Changes {
  readonly count: number
  /** Puts them into the batch. */
  steps(rows: BatchRows): Steps
}

/** Rows by {@link mapKey} of their key, in the order of insertion; a row without value is deleted. */
export type RowMap = ReadonlyMap<string, RowChange>

/** Rows put into a batch in one step. */
const rowsAtOnce = 16

/** The changes in a map of rows. */
export function changesOf(changed: RowMap): Changes {
  const steps = (rows: BatchRows) => eachSteps(changed.values(), (row) => rows.change(row), rowsAtOnce)
  return { count: changed.size, steps }
}
