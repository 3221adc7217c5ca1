import type { Steps } from '../../../base/primitives/steps.js'
import type { BatchRows } from './batch-rows.js'
import type { Changes } from './row-changes.js'
import { RowBuffer } from './row-buffer.js'

/** Bytes of the first piece of memory, and of the largest: each is twice the one before. */
const pieceSizes = { first: 4 * 1024, most: 256 * 1024 }
/** Length of a key u16, length of its value u32. */
const headSize = 6
/** In place of the length of a value: the row is deleted. */
const deleted = 0xffffffff
/** Rows written in one step. */
const rowsAtOnce = 16

/** @tuning bytes: a row that is put in by a buffer of its size, which stays: longer ones have too many sizes */
const longestReused = 256

/** Memory for rows by their sizes; those of a table have the same. */
const buffers = new Map<number, RowBuffer>()

function bufferOf(keyLength: number, valueLength: number): RowBuffer {
  const id = keyLength * 0x100000000 + valueLength
  let row = buffers.get(id)
  if (row === undefined) buffers.set(id, (row = new RowBuffer(keyLength, valueLength)))
  return row
}

/**
 * Rows in the order in which they are written, as bytes: thousands of them are a few objects. Nothing can be read back.
 *
 *   length of key u16, length of value u32 or ffffffff, key, value
 */
export class EncodedRows implements Changes {
  readonly #full: Buffer[] = []
  #piece = Buffer.alloc(0)
  #used = 0
  /** Size of the piece begun last, unless a row needed a larger one. */
  #size = 0
  #count = 0

  /** Number of rows. */
  get count(): number {
    return this.#count
  }

  put(key: Uint8Array, value: Uint8Array): void {
    const at = this.#begin(key, value.length, value.length)
    this.#piece.set(value, at)
  }

  putRow({ key, value }: RowBuffer): void {
    this.put(key, value)
  }

  del(key: Uint8Array): void {
    this.#begin(key, deleted, 0)
  }

  /** Adds rows that were encoded after these; nothing more is added to them. */
  append(later: EncodedRows): void {
    const last = later.#piece.subarray(0, later.#used)
    if (later.#full.length > 0) {
      this.#finishPiece()
      for (const piece of later.#full) this.#full.push(piece)
    }
    // Copied: a few rows would keep a piece of their own in memory.
    const at = this.#reserve(last.length)
    last.copy(this.#piece, at)
    this.#count += later.#count
  }

  /** Puts all rows into a batch. */
  *steps(rows: BatchRows): Steps {
    let count = 0
    for (const piece of [...this.#full, this.#piece.subarray(0, this.#used)]) {
      for (let at = 0; at < piece.length;) {
        const key = at + headSize
        const value = key + piece.readUInt16LE(at)
        const length = piece.readUInt32LE(at + 2)
        if (length === deleted) rows.del(piece.subarray(key, value))
        else if (value + length - key > longestReused) {
          rows.put(piece.subarray(key, value), piece.subarray(value, value + length))
        } else {
          const row = bufferOf(value - key, length)
          // Not by copy, which makes a view of the piece first: rows here are short.
          for (let i = 0, from = key; from < value + length;) row.bytes[i++] = piece[from++] as number
          rows.putRow(row)
        }
        at = value + (length === deleted ? 0 : length)
        if (++count % rowsAtOnce === 0) yield
      }
    }
  }

  /** Makes room for a row and writes what precedes its value; returns where the value goes. */
  #begin(key: Uint8Array, length: number, size: number): number {
    const at = this.#reserve(headSize + key.length + size)
    const piece = this.#piece
    piece.writeUInt16LE(key.length, at)
    piece.writeUInt32LE(length, at + 2)
    piece.set(key, at + headSize)
    this.#count++
    return at + headSize + key.length
  }

  /** Makes room for so many bytes in one piece; returns where they go. */
  #reserve(bytes: number): number {
    if (this.#used + bytes > this.#piece.length) {
      this.#finishPiece()
      this.#size = Math.min(this.#size === 0 ? pieceSizes.first : 2 * this.#size, pieceSizes.most)
      this.#piece = Buffer.allocUnsafeSlow(Math.max(this.#size, bytes))
    }
    const at = this.#used
    this.#used += bytes
    return at
  }

  #finishPiece(): void {
    if (this.#used > 0) this.#full.push(this.#piece.subarray(0, this.#used))
    this.#piece = Buffer.alloc(0)
    this.#used = 0
  }
}
