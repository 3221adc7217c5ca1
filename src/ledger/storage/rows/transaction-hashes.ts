import { maxBlockTransactions } from '../../../base/primitives/block.js'
import type { Hash } from '../../../base/primitives/hash.js'
import { Transaction } from '../../../base/primitives/transaction.js'
import { runCooperatively } from '../../../base/runtime/cooperative.js'
import { type Key, type GivenUpRow, tables } from './tables.js'

/** Transactions of a block, with the hashes of those that were given up in their places. */

interface RangeReader {
  rows(range: { gte: Key; lt: Key }, options: object): Promise<[Buffer, Buffer][]>
}

/** A transaction, or its hashes where it was given up. */
export type KnownTransaction = Transaction | GivenUpRow

/** Those of the block at a height, from an index on and before another one. */
export async function knownTransactions(
  database: RangeReader,
  height: number,
  from = 0,
  to = maxBlockTransactions,
): Promise<KnownTransaction[]> {
  const range = (of: typeof tables.transaction | typeof tables.givenUp) => ({
    gte: of.key(height, from),
    lt: of.key(height, to),
  })
  const found = new Map<number, KnownTransaction>()
  for (const [key, bytes] of await database.rows(range(tables.transaction), {})) {
    found.set(tables.transaction.fields(key)[1], await runCooperatively(Transaction.fromBytesSteps(bytes)))
  }
  // Read after the others: what is given up in between is in both.
  for (const [key, row] of await database.rows(range(tables.givenUp), {})) {
    found.set(tables.givenUp.fields(key)[1], tables.givenUp.decode(row))
  }
  return [...found].sort(([a], [b]) => a - b).map(([, one]) => one)
}

/** The txid of a transaction, given up or not, in internal order. */
export function txidOf(known: KnownTransaction): Hash {
  return known instanceof Transaction ? known.hash : known.txid
}
