import { crc32 } from 'node:zlib'
import { InvariantError } from '../../../base/errors/rule-error.js'
import { Writer } from '../../../base/primitives/codec.js'
import type { Key } from '../rows/layout.js'
import { checksumSize } from '../rows/sealed-row.js'

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

interface Sizes {
  readonly number: number
  readonly keySize: number | undefined
  readonly valueSize?: number
}

/** Memory for a row of a table whose rows have one size. */
export function rowBufferOf({ number, keySize, valueSize }: Sizes): RowBuffer {
  if (keySize === undefined || valueSize === undefined) throw new InvariantError('rows of that table differ in size')
  const buffer = new RowBuffer(keySize, valueSize)
  buffer.key[0] = number
  return buffer
}

/** A table whose rows have one size. */
interface SizedTable<K extends readonly unknown[], V> extends Sizes {
  readonly fill: (into: Key, key: K) => Key
  readonly write: (writer: Writer, value: V) => Writer
}

/** Rows of one table, each in the memory of the one before. */
interface ReusedRows<K extends readonly unknown[], V> {
  row(value: V, ...key: K): RowBuffer
  key(...key: K): Key
}

/**
 * Makes rows of a table that every transfer changes: each where the one before it was, and it lasts as long. The bytes are those that
 * `key` and `encode` of the table make.
 */
export function reusedRows<K extends readonly unknown[], V>(table: SizedTable<K, V>): ReusedRows<K, V> {
  const { fill, write } = table
  const buffer = rowBufferOf(table)
  return {
    key: (...key) => fill(buffer.key, key),
    row: (value, ...key) => {
      fill(buffer.key, key)
      write(buffer.begin(), value)
      return buffer
    },
  }
}
