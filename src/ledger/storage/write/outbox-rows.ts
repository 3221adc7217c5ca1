import { equalBytes } from '../../../base/primitives/bytes.js'
import { checksumSize } from '../rows/sealed-row.js'
import { isShipped } from '../rows/shipped-rows.js'
import { meta, type TipRow } from '../rows/tables.js'

/** Bytes of the first piece of memory. */
const firstSize = 4 * 1024
/** Bytes before a row: length of the key u16, of the sealed value i32. */
const headSize = 6
/** In place of the length of a value: the row is deleted. */
const deleted = -1

/** Collects the changes of a batch that shards need, in the form of an outbox row. */
export class OutboxRows {
  #bytes = Buffer.alloc(0)
  #length = 0
  #tip: TipRow | undefined
  #isReorganising: boolean | undefined

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  /** The tip that the batch moves to; undefined: it stays. */
  get tip(): TipRow | undefined {
    return this.#tip
  }

  /** Whether a reorganisation of several batches is in progress after this one; undefined: as before. */
  get isReorganising(): boolean | undefined {
    return this.#isReorganising
  }

  put(key: Uint8Array, sealed: Uint8Array): void {
    if (equalBytes(key, meta.reorganisation.key)) this.#isReorganising = true
    if (equalBytes(key, meta.tip.key)) this.#tip = meta.tip.decode(Uint8Array.from(sealed.subarray(0, -checksumSize)))
    if (!isShipped(key)) return
    const at = this.#begin(key, sealed.length, sealed.length)
    this.#bytes.set(sealed, at)
  }

  del(key: Uint8Array): void {
    if (equalBytes(key, meta.reorganisation.key)) this.#isReorganising = false
    if (isShipped(key)) this.#begin(key, deleted, 0)
  }

  /** Makes room for a row and writes what precedes its value; returns where that goes. */
  #begin(key: Uint8Array, length: number, size: number): number {
    const at = this.#length
    const value = at + headSize + key.length
    this.#length = value + size
    if (this.#length > this.#bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(this.#length, 2 * this.#bytes.length, firstSize))
      this.#bytes.copy(grown, 0, 0, at)
      this.#bytes = grown
    }
    this.#bytes.writeUInt16LE(key.length, at)
    this.#bytes.writeInt32LE(length, at + 2)
    this.#bytes.set(key, at + headSize)
    return value
  }
}

/** The changes in an outbox row: keys with their sealed values, undefined for rows that are deleted. */
export function* outboxChanges(rows: Uint8Array): Generator<readonly [key: Buffer, sealed: Buffer | undefined]> {
  const bytes = Buffer.from(rows.buffer, rows.byteOffset, rows.length)
  for (let at = 0; at < bytes.length;) {
    const length = bytes.readInt32LE(at + 2)
    const value = at + headSize + bytes.readUInt16LE(at)
    const key = bytes.subarray(at + headSize, value)
    at = length === deleted ? value : value + length
    yield [key, length === deleted ? undefined : bytes.subarray(value, at)]
  }
}
