import { createHash } from 'node:crypto'
import type { OutboxRows } from './outbox-rows.js'
import type { RowBuffer } from './row-buffer.js'
import type { RowBatch } from '../native-level.js'
import { checksumOf, checksumSize } from '../rows/sealed-row.js'

/** Bytes gathered before they are hashed: a call into the hash costs more than the bytes of a row. */
const arenaSize = 16 * 1024

/** Change of one row; undefined deletes it. */
export interface RowChange {
  readonly key: Buffer
  readonly value: Uint8Array | undefined
}

/**
 * Encodes rows for a write batch and hashes them for its journal row. Each is written once, into an arena:
 *
 *   u32le(length of key) i32le(length of value, -1 for a deleted row) key value [crc32 over key and value]
 *
 * The batch copies key, value and checksum from there; the digest leaves the checksum out, so the next row overwrites it.
 */
export class BatchRows {
  /** Bytes of keys and values. */
  bytes = 0
  readonly #batch: RowBatch
  /** Gets the rows for shards, where there are any. */
  readonly #shipped: OutboxRows | undefined
  readonly #digest = createHash('sha256')
  #arena = Buffer.allocUnsafe(arenaSize)
  #length = 0

  constructor(batch: RowBatch, shipped?: OutboxRows) {
    this.#batch = batch
    this.#shipped = shipped
  }

  change({ key, value }: RowChange): void {
    if (value === undefined) this.del(key)
    else this.put(key, value)
  }

  put(key: Uint8Array, value: Uint8Array): void {
    const start = this.#begin(key, value.length, value.length)
    const from = start + key.length
    const end = from + value.length
    const arena = this.#arena
    arena.set(value, from)
    // Of both apart: a view over both would be one more object for each row.
    arena.writeUInt32LE(checksumOf(key, value), end)
    const sealed = arena.subarray(from, end + checksumSize)
    this.#batch.put(key, sealed)
    this.#shipped?.put(key, sealed)
  }

  putRow(row: RowBuffer): void {
    const { key, value, bytes } = row
    // Its room comes first: that may begin another arena.
    const start = this.#reserve(key.length, value.length, value.length)
    this.#arena.set(bytes, start)
    const sealed = row.seal()
    this.#batch.put(key, sealed)
    this.#shipped?.put(key, sealed)
  }

  del(key: Uint8Array): void {
    this.#begin(key, -1, 0)
    this.#batch.del(key)
    this.#shipped?.del(key)
  }

  /** sha256 over all rows. */
  digest(): Uint8Array {
    this.#pass(0)
    return this.#digest.digest()
  }

  /** Makes room for a row and writes what precedes its value; returns where its key stands. */
  #begin(key: Uint8Array, length: number, size: number): number {
    const start = this.#reserve(key.length, length, size)
    this.#arena.set(key, start)
    return start
  }

  /** Makes room for a row and writes the lengths before it; returns where its key goes. */
  #reserve(keyLength: number, length: number, size: number): number {
    const needed = 8 + keyLength + size
    if (this.#length + needed + checksumSize > this.#arena.length) this.#pass(needed + checksumSize)
    const arena = this.#arena
    const start = this.#length + 8
    arena.writeUInt32LE(keyLength, this.#length)
    arena.writeInt32LE(length, this.#length + 4)
    this.#length += needed
    this.bytes += keyLength + size
    return start
  }

  /** Hashes the gathered rows and makes room for `size` bytes. */
  #pass(size: number): void {
    this.#digest.update(this.#arena.subarray(0, this.#length))
    this.#length = 0
    if (size > this.#arena.length) this.#arena = Buffer.allocUnsafe(size)
  }
}
