import { checkDidRoot } from '../consensus/commitment.js'
import type { SanityContext } from '../consensus/rule-context.js'
import { RuleError } from '../../base/errors/rule-error.js'
import type { Hash } from '../../base/primitives/hash.js'
import { Transaction } from '../../base/primitives/transaction.js'
import { didRoot } from '../../identity/proofs/map-tree.js'
import { damaged } from '../storage/failure.js'
import type { RowReader } from '../storage/rows/row-reader.js'
import { tables } from '../storage/rows/tables.js'

/** Context that fixes the commitments of a chain. */
export interface CommitmentContext {
  readonly sanity: SanityContext
  /** Hash of the genesis block. */
  readonly genesis: Hash
}

/** Throws that the database is damaged when the block at a height commits to another root than that of the map after it. */
export function checkMapAt(
  rows: RowReader,
  height: number,
  mapRoot: Hash,
  { sanity: { spec }, genesis }: CommitmentContext,
): void {
  const coinbase = height === 0 ? undefined : rows.get(tables.transaction.key(height, 0))
  // A missing block is reported by the check of recent blocks.
  if (coinbase === undefined) return
  try {
    checkDidRoot(spec, height, Transaction.fromBytes(coinbase), didRoot(genesis, mapRoot))
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    throw damaged(`the map of DIDs is not that of the block at height ${height}`)
  }
}
