import type { Coin } from '../../consensus/ledger.js'
import { RuleError } from '../../../base/errors/rule-error.js'
import { txType } from '../../../base/primitives/payload.js'
import type { RowReader } from './row-reader.js'
import { meta } from './tables.js'

/** Blocks that have given up their transfers, their coinbase, and the coins in their undo record. */

/**
 * More than a reorganisation can take back, and than peers rely on.
 * @limit count: least number of last blocks that keep their transactions
 */
export const leastKept = 1000

/** The highest block that has given up its transactions; 0: none has, since the genesis block keeps its own. */
export function prunedHeight(rows: RowReader): number {
  return meta.pruned.get(rows) ?? 0
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
