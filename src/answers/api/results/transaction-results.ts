import { RuleError } from '../../../base/errors/rule-error.js'
import { displayHash, toHex } from '../../../base/primitives/bytes.js'
import { type Hash, sha256 } from '../../../base/primitives/hash.js'
import { Transaction } from '../../../base/primitives/transaction.js'
import type { TransactionPlace } from '../../../base/primitives/transaction-json.js'
import type { ApiContext } from '../api-context.js'
import { chainKey, StreamedAnswer, writeArray, writeList } from '../streams/streamed-answer.js'
import { placeIn } from './block-results.js'
import { isSmall, transactionText, withDecoded, writeHex, writeTransaction } from './transaction-text.js'

/** Transactions of the chain and the pool. */

/** Encoded bytes of a transaction on the active chain, with its position, or the transaction itself from the pool. */
type Found =
  | { readonly bytes: Uint8Array; readonly place: TransactionPlace }
  | { readonly bytes: Uint8Array; readonly pooled: Transaction }

/** A transaction of the active chain, else of the pool; `unknown-transaction` with the drop reason of one that left the pool. */
function findTransaction({ reader, mempool }: ApiContext, hash: Hash): Found {
  const located = reader.transactionBytes(hash)
  // Rows of a block may be visible a moment before the tip moves to it.
  if (located !== undefined && located.height <= reader.height) {
    return { bytes: located.bytes, place: placeIn(reader, located.block) }
  }
  const pooled = mempool.get(hash)?.transaction
  if (pooled !== undefined) return { bytes: pooled.bytes, pooled }
  const reason = mempool.droppedReason(hash)
  const gone = reason === undefined ? '' : `; it left the pool unmined: ${reason}`
  throw new RuleError('unknown-transaction', `no transaction ${displayHash(hash)} on the chain or in the pool${gone}`)
}

/** A transaction that is not answered at once: its bytes, and where it was. */
interface Large {
  readonly size: number
  readonly isPooled: boolean
}

/** A small transaction, answered at once; or what is known of a large one. */
function findSmall(context: ApiContext, hash: Hash): Found | Large {
  const known = context.reader.knownLarge(hash)
  if (known !== undefined) return { size: known, isPooled: false }
  const found = findTransaction(context, hash)
  return isSmall(found.bytes) ? found : { size: found.bytes.length, isPooled: 'pooled' in found }
}

/** The transaction object as JSON text. */
export function transaction(context: ApiContext, hash: Hash): string | StreamedAnswer {
  const found = findSmall(context, hash)
  if ('bytes' in found) {
    return 'pooled' in found
      ? transactionText(found.pooled)
      : transactionText(Transaction.fromBytes(found.bytes), found.place)
  }
  return new StreamedAnswer({
    key: keyOf(context, found, 'transaction', displayHash(hash)),
    repeatable: false,
    // Looked up again: an answer that waits must not hold it.
    write: async (sink) => {
      const now = await context.reader.chain.database.settle(() => findTransaction(context, hash))
      if ('pooled' in now) await writeTransaction(sink, now.pooled)
      else await withDecoded(sink, now.bytes, (tx) => writeTransaction(sink, tx, now.place))
    },
  })
}

/** The bytes of a transaction in hex, as JSON text. */
export function transactionHex(context: ApiContext, hash: Hash): string | StreamedAnswer {
  const found = findSmall(context, hash)
  if ('bytes' in found) return JSON.stringify(toHex(found.bytes))
  return new StreamedAnswer({
    key: keyOf(context, found, 'transaction hex', displayHash(hash)),
    repeatable: false,
    // Only the length is kept: an answer that waits must not hold the bytes.
    write: async (sink) => {
      const release = await sink.reserve(found.size)
      try {
        const { bytes: now } = await context.reader.chain.database.settle(() => findTransaction(context, hash))
        sink.add('"')
        await writeHex(sink, now)
        sink.add('"')
      } finally {
        release()
      }
    },
  })
}

/** The transaction object of bytes that a client sent. */
export function decodedTransaction(bytes: Uint8Array): string | StreamedAnswer {
  if (isSmall(bytes)) return transactionText(Transaction.fromBytes(bytes))
  return new StreamedAnswer({
    key: `decoded ${toHex(sha256(bytes))}`,
    repeatable: true,
    write: (sink) => withDecoded(sink, bytes, (tx) => writeTransaction(sink, tx)),
  })
}

/** All pooled transactions, in order of arrival, as JSON text; those that leave during the answer are skipped. */
export function transactionPool(context: ApiContext): StreamedAnswer {
  return new StreamedAnswer({
    key: poolKey(context, 'pool'),
    repeatable: false,
    write: async (sink) => {
      const { mempool } = context
      // Ids alone: a slow reader must not keep transactions in memory that have left the pool.
      const hashes = Array.from(mempool.entries(), (entry) => entry.transaction.hash)
      await writeList(sink, stillPooled(mempool, hashes), (tx) => writeTransaction(sink, tx))
    },
  })
}

function* stillPooled(mempool: ApiContext['mempool'], hashes: readonly Hash[]): Iterable<Transaction> {
  for (const hash of hashes) {
    const entry = mempool.get(hash)
    if (entry !== undefined) yield entry.transaction
  }
}

/** Ids of all pooled transactions. */
export function transactionIds(context: ApiContext): StreamedAnswer {
  return new StreamedAnswer({
    key: poolKey(context, 'pool ids'),
    repeatable: false,
    write: (sink) =>
      writeArray(
        sink,
        Array.from(context.mempool.entries(), ({ transaction: { hash } }) => hash),
        displayHash,
      ),
  })
}

/** Key of the text of a large transaction, which depends on the pool alone where it waits there. */
function keyOf(context: ApiContext, { isPooled }: Large, ...names: readonly string[]): string {
  return isPooled ? poolKey(context, ...names) : chainKey(context.reader, ...names)
}

/** Key of text that depends on chain and pool, valid for their present content. */
function poolKey({ reader, mempool }: ApiContext, ...names: readonly string[]): string {
  return chainKey(reader, mempool.additions, mempool.size, ...names)
}
