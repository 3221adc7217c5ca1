import type { Coin } from '../../consensus/ledger.js'
import { RuleError } from '../../../base/errors/rule-error.js'
import { txType } from '../../../base/primitives/payload.js'
import { present, type RowReader } from './row-reader.js'
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

/** The block whose state the node took from others; 0: it verified all blocks. */
export function joinedHeight(rows: RowReader): number {
  return meta.joined.get(rows) ?? 0
}

/** Whether the block at a height has given up its transactions. */
export function isPruned(rows: RowReader, height: number): boolean {
  return height > 0 && height <= prunedHeight(rows)
}

/** Throws `pruned` for a block that has given up its transactions. */
export function requireUnpruned(rows: RowReader, height: number): void {
  if (!isPruned(rows, height)) return
  const first = prunedHeight(rows) + 1
  const why = height <= joinedHeight(rows) ? 'took the state of a block from others' : 'prunes'
  throw new RuleError(
    'pruned',
    `this node ${why}, and has the transactions of blocks from height ${first} on, not of height ${height}; ask a node that keeps all`,
  )
}

/** Why nothing can be made of all blocks of a chain that lacks those up to `pruned`, and what helps; `joined`: it took the state of that block. */
export function lackText({ pruned, joined }: { readonly pruned: number; readonly joined: number }): string {
  return joined === pruned
    ? `the directory took the state of block ${joined} from others, and has not yet filled in the blocks up to it: start the node, not ` +
        'with --no-backfill, and let it finish'
    : `the chain is pruned: blocks 1 to ${pruned} have given up their transactions`
}

/** A transaction that the database must hold, unless its block is one of which the node took the state alone: then `pruned`. */
export function presentAt<T>(rows: RowReader, height: number, value: T | undefined, what: string): T {
  if (value === undefined && height <= joinedHeight(rows)) requireUnpruned(rows, height)
  return present(value, what)
}

/** The type of a transaction that its block gave up, by one of its coins. */
export function prunedType({ coinbase }: Pick<Coin, 'coinbase'>): number {
  return coinbase ? txType.coinbase : txType.transfer
}
