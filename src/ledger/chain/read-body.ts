import { readAuxPow } from '../../base/primitives/auxpow.js'
import { Block, fullHeaderBytes } from '../../base/primitives/block.js'
import { concat } from '../../base/primitives/bytes.js'
import { Reader, Writer } from '../../base/primitives/codec.js'
import type { Hash } from '../../base/primitives/hash.js'
import { Transaction } from '../../base/primitives/transaction.js'
import { runCooperatively } from '../../base/runtime/cooperative.js'
import type { NewestRows } from '../storage/database.js'
import { damaged } from '../storage/failure.js'
import { requireUnpruned, requireWhole } from '../storage/rows/prune-rows.js'
import type { RowReader } from '../storage/rows/row-reader.js'
import { tables } from '../storage/rows/tables.js'
import type { HeaderIndex, KnownHeader } from './header-index.js'

/** A source of row ranges. */
export type RangeReader = Pick<NewestRows, 'get' | 'rows'>

/** Reads a block of the active chain from its rows; throws `pruned` if it gave up any. */
export async function readBlock(database: RangeReader, known: KnownHeader): Promise<Block> {
  const transactions: Transaction[] = []
  await eachTransaction(database, known, (transaction) => transactions.push(transaction))
  return new Block(known.header, readAuxPow(new Reader(known.auxPow)), transactions)
}

/** Passes on the transactions of a block of the active chain, one by one, without keeping them; throws as {@link readBlock}. */
export async function eachTransaction(
  database: RangeReader,
  known: KnownHeader,
  take: (transaction: Transaction) => void,
): Promise<void> {
  for (const bytes of await transactionRows(database, known)) {
    take(await runCooperatively(Transaction.fromBytesSteps(bytes)))
  }
}

/** Same as {@link readBlock}, without decoding transactions. Rows behind the coinbase of a block that has no other transaction are not looked for. */
export async function readBlockBytes(database: RangeReader, known: KnownHeader): Promise<Uint8Array> {
  // Most blocks of a quiet chain have a coinbase alone: a row is read in a fifth of the time that an iterator of LevelDB takes.
  const only = known.transactionCount === 1 ? tables.transaction.get(database, known.header.height, 0) : undefined
  const transactions = only === undefined ? await transactionRows(database, known) : [only]
  const head = fullHeaderBytes(known.header, readAuxPow(new Reader(known.auxPow)))
  return concat(head, new Writer().u32(transactions.length).finish(), ...transactions)
}

async function transactionRows(database: RangeReader, known: KnownHeader): Promise<Uint8Array[]> {
  requireUnpruned(database, known.header.height)
  const rows = await database.rows(tables.transaction.range(known.header.height))
  if (rows.length !== known.transactionCount) {
    // Given up, by now or during the read.
    await requireWhole(database, known.header.height)
    throw damaged(`${rows.length} of ${known.transactionCount} transactions of ${known.header.id} are there`)
  }
  return rows.map(([, bytes]) => bytes)
}

/** The bytes of a side block; undefined when they are not stored. */
export function sideBodyRow(rows: RowReader, hash: Hash): Uint8Array | undefined {
  return rows.get(tables.sideBody.key(hash))
}

/**
 * Reads an active or side block; undefined when its body is not stored. Reads again when a reorganisation moves the block
 * during the read.
 */
export async function bodyOf(database: RangeReader, headers: HeaderIndex, hash: Hash): Promise<Block | undefined> {
  for (;;) {
    const known = headers.get(hash)
    if (known?.status !== 'active' && known?.status !== 'side') return undefined
    const unmoved = () => headers.get(hash)?.status === known.status
    try {
      const block = await (known.status === 'active' ? readBlock(database, known) : readSideBody(database, hash))
      if (unmoved()) return block
    } catch (error) {
      if (unmoved()) throw error
    }
  }
}

/** Reads a side block. */
export async function readSideBody(rows: RowReader, hash: Hash): Promise<Block> {
  const bytes = sideBodyRow(rows, hash)
  if (bytes === undefined) throw damaged('the body of a block off the active chain is gone')
  return runCooperatively(Block.fromBytesSteps(bytes))
}
