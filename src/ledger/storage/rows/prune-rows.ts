import type { Coin } from '../../consensus/ledger.js'
import { RuleError } from '../../../base/errors/rule-error.js'
import { isPrunable, txType } from '../../../base/primitives/payload.js'
import { typeIn } from '../../../base/primitives/transaction-parts.js'
import { type Steps } from '../../../base/primitives/steps.js'
import { type RowReader, present } from './did-reader.js'
import type { Overlay } from '../write/overlay.js'
import { type Key, keys } from './schema.js'
import { values } from './row-values.js'
import { withoutCoinsSteps } from './undo-parts.js'

/** What a node which prunes gives up of a block: transfers and the coinbase, and the coins in its undo record. */

/**
 * More than a reorganisation can take back, and than peers rely on.
 * @limit count: least number of last blocks that keep their transactions
 */
export const leastKept = 1000

/** The highest block that has given up its transactions; 0: none has, since the genesis block keeps its own. */
export function prunedHeight(rows: RowReader): number {
  const row = rows.get(keys.meta('pruned'))
  return row === undefined ? 0 : values.height.decode(row)
}

/** Whether the block at a height has given up its transactions. */
export function isPruned(rows: RowReader, height: number): boolean {
  return height > 0 && height <= prunedHeight(rows)
}

/** Throws `pruned` for a block that has given up its transactions. */
export function requireUnpruned(rows: RowReader, height: number): void {
  if (!isPruned(rows, height)) return
  const first = prunedHeight(rows) + 1
  throw new RuleError(
    'pruned',
    `this node prunes, and has the transactions of blocks from height ${first} on, not of height ${height}; ask a node that keeps all`,
  )
}

/** The type of a transaction that its block gave up, by one of its coins. */
export function prunedType({ coinbase }: Pick<Coin, 'coinbase'>): number {
  return coinbase ? txType.coinbase : txType.transfer
}

/** Stages that a block gives up its transactions. */
export function* pruneBlockSteps(overlay: Overlay, height: number, transactions: readonly [Key, Uint8Array][]): Steps {
  for (const [key, bytes] of transactions) {
    if (isPrunable(typeIn(bytes))) overlay.del(key)
    yield
  }
  const undo = present(overlay.get(keys.undo(height)), `the undo record of height ${height}`)
  overlay.put(keys.undo(height), yield* withoutCoinsSteps(undo))
  overlay.put(keys.meta('pruned'), values.height.encode(height))
}
