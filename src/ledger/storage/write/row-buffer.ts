import { crc32 } from 'node:zlib'
import { InvariantError } from '../../../base/errors/rule-error.js'
import { Writer } from '../../../base/primitives/codec.js'
import { checksumSize } from '../rows/sealed-row.js'

/** A table by the sizes of its rows. */
interface RowSizes {
  readonly number: number
  readonly keySize: number | undefined
  readonly valueSize?: number
}

/** Memory for a row of fixed sizes, filled again for each row: one that is written at once needs no objects of its own. */
export class RowBuffer {
  /** With its table byte; the caller fills in the rest. */
  readonly key: Buffer
  /** Key and value. */
  readonly bytes: Buffer
  readonly value: Buffer
  readonly #sealed: Buffer
  readonly #writer: Writer

  constructor(keySize: number, valueSize: number) {
    const memory = Buffer.alloc(keySize + valueSize + checksumSize)
    this.key = memory.subarray(0, keySize)
    this.bytes = memory.subarray(0, memory.length - checksumSize)
    this.value = this.bytes.subarray(this.key.length)
    this.#sealed = memory.subarray(this.key.length)
    this.#writer = Writer.over(this.value)
  }

  /** Memory for the rows of a table. */
  static of({ number, keySize, valueSize }: RowSizes): RowBuffer {
    if (keySize === undefined || valueSize === undefined) throw new InvariantError('rows of that table differ in size')
    const row = new RowBuffer(keySize, valueSize)
    row.key[0] = number
    return row
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
