import { RuleError } from '../../errors.js'
import { displayHash, fromHex } from '../../primitives/bytes.js'
import type { Hash } from '../../primitives/hash.js'
import type { TransactionPlace } from '../../primitives/transaction-json.js'
import type { Transaction } from '../../primitives/transaction.js'
import type { ApiContext } from '../context.js'
import { placeIn } from './blocks.js'
import { jsonArray } from './lists.js'
import { transactionList, transactionText } from './transaction-text.js'

/** Transactions of the chain and the pool. */

/** One of the active chain, with its place, else of the pool; `unknown-transaction` says why one that was pooled is gone. */
export function findTransaction(
  { reader, mempool }: ApiContext,
  hash: Hash,
): { readonly transaction: Transaction; readonly place?: TransactionPlace } {
  const located = reader.transaction(hash)
  // Rows of a block may be visible a moment before the tip moves to it.
  if (located !== undefined && located.height <= reader.height) {
    return { transaction: located.transaction, place: placeIn(reader, located.block) }
  }
  const pooled = mempool.get(hash)
  if (pooled !== undefined) return { transaction: pooled.transaction }
  const reason = mempool.droppedReason(hash)
  const gone = reason === undefined ? '' : `; it left the pool unmined: ${reason}`
  throw new RuleError('unknown-transaction', `no transaction ${displayHash(hash)} on the chain or in the pool${gone}`)
}

/** The transaction object as JSON text. */
export function transaction(context: ApiContext, hash: Hash): Promise<string> {
  const found = findTransaction(context, hash)
  return transactionText(found.transaction, found.place)
}

/** Everything that waits for a block, in order of arrival, as JSON text. */
export function transactionPool({ mempool }: ApiContext): Promise<string> {
  return transactionList([...mempool.entries()].map((entry) => entry.transaction))
}

/** The ids of the same. */
export function transactionIds({ mempool }: ApiContext): Promise<string> {
  return jsonArray([...mempool.entries()], ({ transaction: { txid } }) => txid)
}

/** The bytes of a transaction that a client sent as `data`. */
export function transactionBytes(data: string): Uint8Array {
  const bytes = data === '' ? undefined : fromHex(data)
  if (bytes !== undefined) return bytes
  throw new RuleError('request-parameter', `data: not an even number of hex digits (${data.length} characters)`)
}
