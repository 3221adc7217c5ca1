import { createHash, type Hash as Digest } from 'node:crypto'
import { sha256 } from '../../../base/primitives/hash.js'
import type { Database } from '../database.js'
import { rangeOf } from '../rows/tables.js'

/** Bytes gathered before they are hashed: a call into the hash costs more than the bytes of a row. */
const arenaSize = 64 * 1024

/** @tuning bytes: rows that are read at once where all rows of a table are */
export const rowsAtOnce = 512 * 1024

/** sha256 over all rows of the given tables in order: equal for equal contents. */
export async function digestOf(database: Database, tables: readonly number[]): Promise<Uint8Array> {
  const digest = createHash('sha256')
  const rows = new GatheredRows(digest)
  for (const tableByte of tables) {
    for await (const page of database.pages(rangeOf(tableByte), rowsAtOnce)) {
      for (const [key, value] of page) rows.add(key, value)
    }
  }
  rows.end()
  return sha256(digest.digest())
}

/** Rows on their way into a digest: lengths of key and value, key, value. */
class GatheredRows {
  readonly #digest: Digest
  readonly #arena = Buffer.allocUnsafe(arenaSize)
  #length = 0

  constructor(digest: Digest) {
    this.#digest = digest
  }

  add(key: Buffer, value: Buffer): void {
    const arena = this.#room(8 + key.length)
    this.#length = arena.writeUInt32LE(value.length, arena.writeUInt32LE(key.length, this.#length))
    this.#put(key)
    if (value.length <= arenaSize) {
      this.#room(value.length)
      this.#put(value)
    } else {
      this.end()
      this.#digest.update(value)
    }
  }

  end(): void {
    this.#digest.update(this.#arena.subarray(0, this.#length))
    this.#length = 0
  }

  #room(length: number): Buffer {
    if (this.#length + length > arenaSize) this.end()
    return this.#arena
  }

  #put(bytes: Buffer): void {
    this.#arena.set(bytes, this.#length)
    this.#length += bytes.length
  }
}
