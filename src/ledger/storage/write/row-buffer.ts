import { crc32 } from 'node:zlib'
import { Writer } from '../../../base/primitives/codec.js'
import { checksumSize } from '../rows/sealed-row.js'

/** Memory for a row of fixed sizes, filled anew for each: what is written at once needs no objects of its own. */
export class FixedRow {
  /** The table byte, and what the caller fills in. */
  readonly key: Buffer
  /** Key and value. */
  readonly bytes: Buffer
  readonly value: Buffer
  readonly #sealed: Buffer
  readonly #writer: Writer

  /** `keySize`: bytes behind the table byte. */
  constructor(tableByte: number, keySize: number, valueSize: number) {
    const memory = Buffer.alloc(1 + keySize + valueSize + checksumSize)
    memory[0] = tableByte
    this.key = memory.subarray(0, 1 + keySize)
    this.bytes = memory.subarray(0, memory.length - checksumSize)
    this.value = this.bytes.subarray(this.key.length)
    this.#sealed = memory.subarray(this.key.length)
    this.#writer = Writer.over(this.value)
  }

  /** Writes the value, from its beginning. */
  begin(): Writer {
    return this.#writer.restart()
  }

  /** The stored form of the value, as `seal` makes it. */
  seal(): Buffer {
    this.#sealed.writeUInt32LE(crc32(this.bytes), this.value.length)
    return this.#sealed
  }
}
