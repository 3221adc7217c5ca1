import { readAuxPow } from '../primitives/auxpow.js'
import { Block, fullHeaderBytes } from '../primitives/block.js'
import { concat } from '../primitives/bytes.js'
import { Reader, Writer } from '../primitives/codec.js'
import type { Hash } from '../primitives/hash.js'
import { Transaction } from '../primitives/transaction.js'
import { damaged, type Database } from '../storage/database.js'
import { keys, transactionRange } from '../storage/schema.js'
import type { RowReader } from '../storage/state.js'
import type { KnownHeader } from './headers.js'

/** A block of the active chain, put together from its rows. */
export async function readBlock(database: Database, known: KnownHeader): Promise<Block> {
  const transactions = (await transactionRows(database, known)).map((bytes) => Transaction.fromBytes(bytes))
  return new Block(known.header, readAuxPow(new Reader(known.auxPow)), transactions)
}

/** The bytes of a block of the active chain, put together from its rows; none of its transactions is decoded. */
export async function readBlockBytes(database: Database, known: KnownHeader): Promise<Uint8Array> {
  const transactions = await transactionRows(database, known)
  const head = fullHeaderBytes(known.header, readAuxPow(new Reader(known.auxPow)))
  return concat(head, new Writer(4).u32(transactions.length).finish(), ...transactions)
}

async function transactionRows(database: Database, known: KnownHeader): Promise<Uint8Array[]> {
  const rows = await database.rows(transactionRange(known.header.height))
  if (rows.length !== known.transactionCount) {
    throw damaged(`${rows.length} of ${known.transactionCount} transactions of ${known.header.id} are there`)
  }
  return rows.map(([, bytes]) => bytes)
}

/** The bytes of a block off the active chain; undefined where they are not kept. */
export function sideBodyRow(rows: RowReader, hash: Hash): Uint8Array | undefined {
  return rows.get(keys.sideBody(hash))
}

/** A block off the active chain. */
export function readSideBody(rows: RowReader, hash: Hash): Block {
  const bytes = sideBodyRow(rows, hash)
  if (bytes === undefined) throw damaged('the body of a block off the active chain is gone')
  return Block.fromBytes(bytes)
}
