import { RuleError } from '../../../base/errors/rule-error.js'
import type { ProgramHash } from '../../../base/primitives/address.js'
import { displayHash, mapKey, toHex } from '../../../base/primitives/bytes.js'
import { defined } from '../../../base/primitives/defined.js'
import { type Hash, sha256 } from '../../../base/primitives/hash.js'
import { Transaction } from '../../../base/primitives/transaction.js'
import type { TransactionPlace } from '../../../base/primitives/transaction-json.js'
import { forEachCooperatively } from '../../../base/runtime/cooperative.js'
import type { PoolEntry } from '../../../ledger/mempool/pool-entry.js'
import type { ApiContext } from '../api-context.js'
import { chainKey, type Sink, StreamedAnswer, writeArray, writeList } from '../streams/streamed-answer.js'
import { placeIn } from './block-results.js'
import { isSmall, transactionText, withDecoded, writeHex, writeTransaction } from './transaction-text.js'
import { unspentCoins } from './unspent-results.js'

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

/** Addresses whose transactions are listed. */
export interface PoolOwners {
  readonly owners: readonly ProgramHash[]
  /** Coins of theirs on the chain that are looked at. */
  readonly most: number
  /** Bytes of memory for these. */
  readonly search: number
}

/**
 * All pooled transactions, or those of some addresses, in order of arrival, as JSON text; those that leave during the answer are skipped.
 */
export function transactionPool(context: ApiContext, of?: PoolOwners): StreamedAnswer {
  return new StreamedAnswer({
    key: poolKey(context, 'pool', ...(of === undefined ? [] : [String(of.most), ...of.owners.map(toHex)])),
    repeatable: false,
    ...defined({ search: of?.search }),
    write: async (sink) => {
      const { mempool } = context
      // Ids alone: a slow reader must not keep transactions in memory that have left the pool.
      const hashes = await pooledHashes(context, of, sink)
      await writeList(sink, stillPooled(mempool, hashes), (tx) => writeTransaction(sink, tx))
    },
  })
}

async function pooledHashes(context: ApiContext, of: PoolOwners | undefined, sink: Sink): Promise<Hash[]> {
  const among = of && (await entriesOf(context, of, sink))
  const entries = [...context.mempool.entries()]
  return entries.filter((entry) => among?.has(entry) ?? true).map(({ transaction }) => transaction.hash)
}

/** Pooled transactions that pay addresses or spend their coins, and those of which they spend outputs. */
async function entriesOf(
  { reader, mempool }: ApiContext,
  { owners, most }: PoolOwners,
  sink: Sink,
): Promise<ReadonlySet<PoolEntry>> {
  const found = new Set<PoolEntry>()
  const add = (entry: PoolEntry | undefined) => {
    if (entry === undefined || found.has(entry)) return
    found.add(entry)
    for (const parent of mempool.parents(entry)) add(parent)
  }
  const keys = new Set(owners.map(mapKey))
  for (const coin of await unspentCoins(reader, owners, most, sink)) add(mempool.spender(coin))
  await forEachCooperatively(mempool.entries(), (entry) => {
    sink.signal.throwIfAborted()
    const { hash: txid, outputs } = entry.transaction
    for (const [index, { programHash }] of outputs.entries()) {
      if (!keys.has(mapKey(programHash))) continue
      add(entry)
      add(mempool.spender({ txid, index }))
    }
  })
  return found
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
