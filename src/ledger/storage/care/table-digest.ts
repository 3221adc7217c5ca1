import { createHash } from 'node:crypto'
import { sha256 } from '../../../base/primitives/hash.js'
import type { Database } from '../database.js'
import { rangeOf } from '../rows/tables.js'

/** sha256 over all rows of the given tables in order: equal for equal contents. */
export async function digestOf(database: Database, tables: readonly number[]): Promise<Uint8Array> {
  const digest = createHash('sha256')
  const lengths = Buffer.allocUnsafe(8)
  for (const tableByte of tables) {
    for await (const [key, value] of database.scan(rangeOf(tableByte))) {
      lengths.writeUInt32LE(key.length)
      lengths.writeUInt32LE(value.length, 4)
      digest.update(lengths).update(key).update(value)
    }
  }
  return sha256(digest.digest())
}
