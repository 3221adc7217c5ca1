import { readAuxPow } from '../primitives/auxpow.js'
import { Block } from '../primitives/block.js'
import { Reader } from '../primitives/codec.js'
import type { Hash } from '../primitives/hash.js'
import { Transaction } from '../primitives/transaction.js'
import { damaged, type Database } from '../storage/database.js'
import { keys, transactionRange } from '../storage/schema.js'
import type { RowReader } from '../storage/state.js'
import type { KnownHeader } from './headers.js'

/** A block of the active chain, put together from its rows. */
export async function readBlock(database: Database, known: KnownHeader): Promise<Block> {
  const rows = await database.rows(transactionRange(known.header.height))
  if (rows.length !== known.transactionCount) {
    throw damaged(`${rows.length} of ${known.transactionCount} transactions of ${known.header.id} are there`)
  }
  const transactions = rows.map(([, bytes]) => Transaction.fromBytes(bytes))
  return new Block(known.header, readAuxPow(new Reader(known.auxPow)), transactions)
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
