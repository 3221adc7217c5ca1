import { isPrunable } from '../../../base/primitives/payload-kinds.js'
import type { Steps } from '../../../base/primitives/steps.js'
import { typeIn } from '../../../base/primitives/transaction-parts.js'
import { type StagedRows, present } from '../rows/row-reader.js'
import { type Key, meta, tables } from '../rows/tables.js'
import { withoutCoinsSteps } from '../rows/undo-record.js'

/** Stages that a block gives up its transactions. */
export function* pruneBlockSteps(rows: StagedRows, height: number, transactions: readonly [Key, Uint8Array][]): Steps {
  for (const [key, bytes] of transactions) {
    if (isPrunable(typeIn(bytes))) rows.del(key)
    yield
  }
  const undo = present(rows.get(tables.undo.key(height)), `the undo record of height ${height}`)
  rows.put(tables.undo.key(height), yield* withoutCoinsSteps(undo))
  meta.pruned.put(rows, height)
}
