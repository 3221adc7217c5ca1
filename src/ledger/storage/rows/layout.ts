/**
 * Declares rows: a table byte and fields make a key, a codec makes the value behind it.
 *
 *   table(0x08, [outpoint], coin) -> key, range, fields     of keys
 *                                 -> encode, decode, get    of values
 *                                 -> drawing, keySize, valueSize, which docs/schema.md and the tests of rows compare
 *
 * Fields are big-endian, so that rows sort by them. Values are little-endian, in the codec of the chain.
 */
import { InvariantError } from '../../../base/errors/rule-error.js'
import { asBuffer } from '../../../base/primitives/bytes.js'
import { Reader, Writer } from '../../../base/primitives/codec.js'
import type { Form } from '../../../base/primitives/forms.js'
import { outpointKey, outputIndexOf } from '../../../base/primitives/input.js'
import type { Outpoint } from '../../../base/primitives/transaction-fields.js'
import type { RowReader } from './row-reader.js'
import type { Shipped } from './shipped.js'

export type Key = Buffer

/** One field of a key. */
export interface Field<In, Out = In> {
  /** Its name and form, as docs/schema.md has them. */
  readonly drawing: string
  /** Bytes; a function of the value in the one field of a key whose length varies. */
  readonly size: number | ((value: In) => number)
  /** Returns where the next field begins. */
  write(into: Buffer, value: In, at: number): number
  read(from: Buffer, at: number, size: number): Out
}

/** Makes fields of unsigned integers of so many bits; `more` is drawn behind them. */
function uint(bits: number): (name: string, more?: string) => Field<number> {
  const size = bits / 8
  return (name, more = '') => ({
    drawing: `${name} u${bits}${more}`,
    size,
    write: (into, n, at) => into.writeUIntBE(n, at, size),
    read: (from, at) => from.readUIntBE(at, size),
  })
}

export const u8 = uint(8)
export const u16 = uint(16)
export const u24 = uint(24)
export const u32 = uint(32)
export const u64 = (name: string): Field<number> => ({
  ...uint(64)(name),
  write: (into, n, at) => into.writeBigUInt64BE(BigInt(n), at),
  read: (from, at) => Number(from.readBigUInt64BE(at)),
})

/** Bytes, or their `mapKey`, of one size; without a size of as many as there are. */
export function bytes(drawing: string, size?: number): Field<Uint8Array | string, Buffer> {
  return {
    drawing,
    size: size ?? ((value) => value.length),
    write: (into, value, at) => {
      if (size !== undefined && value.length !== size) throw new InvariantError(`${drawing} of ${value.length} bytes`)
      if (typeof value === 'string') into.write(value, at, 'latin1')
      else into.set(value, at)
      return at + value.length
    },
    read: (from, at, length) => from.subarray(at, at + length),
  }
}

export const hash = (drawing: string) => bytes(drawing, 32)
export const programHash = (drawing: string) => bytes(drawing, 21)

/** An outpoint, or its `outpointKey`. */
export const outpoint: Field<Outpoint | string, Outpoint> = {
  drawing: 'txid, output u16',
  size: 34,
  write: (into, value, at) => {
    const text = typeof value === 'string' ? value : outpointKey(value)
    // With the index in the other byte order, which is then overwritten: a part of a text takes longer to write.
    into.write(text, at, 'latin1')
    return into.writeUInt16BE(outputIndexOf(text), at + 32)
  },
  read: (from, at) => ({ txid: from.subarray(at, at + 32), index: from.readUInt16BE(at + 32) }),
}

/** Reads and writes one kind of value. */
export interface Codec<T> {
  encode(value: T): Uint8Array
  decode(bytes: Uint8Array): T
  /** Bytes of every value, if all have as many. */
  readonly valueSize?: number
}

/** A codec whose values also are parts of other ones. */
export interface PartCodec<T> extends Codec<T>, Form<T> {}

/** A codec by how a value is written and read; `size` is that of every value, or about that of one. */
export function codec<T>(
  size: number | ((value: T) => number),
  write: (writer: Writer, value: T) => Writer,
  read: (reader: Reader) => T,
): PartCodec<T> {
  const sizeOf = typeof size === 'number' ? () => size : size
  return {
    write,
    read,
    encode: (value) => write(new Writer(sizeOf(value)), value).finish(),
    decode: (row) => read(new Reader(row)),
    ...(typeof size === 'number' && { valueSize: size }),
  }
}

/** A codec of values of a form; `sizeOf`: about the bytes of one, where they differ. */
export function rowOf<T>(form: Form<T>, sizeOf: (value: T) => number = () => 256): PartCodec<T> {
  return codec(form.valueSize ?? sizeOf, form.write, form.read)
}

/** Values that are stored as they are. */
export function raw(valueSize?: number): PartCodec<Uint8Array> {
  return {
    write: (writer, value) => writer.bytes(value),
    read: (reader) => reader.take(reader.remaining),
    encode: (value) => value,
    decode: (row) => row,
    ...(valueSize !== undefined && { valueSize }),
  }
}

type AnyField = Field<never, unknown>
type AnyCodec = { encode(value: never): Uint8Array; decode(bytes: Uint8Array): unknown }
type In<F extends readonly AnyField[]> = { [I in keyof F]: F[I] extends Field<infer T, unknown> ? T : never }
type Out<F extends readonly AnyField[]> = { [I in keyof F]: F[I] extends Field<never, infer T> ? T : never }

/** Rows of one kind. */
export interface Table<F extends readonly AnyField[]> {
  /** First byte of their keys. */
  readonly number: number
  /** The fields of their keys, as docs/schema.md has them. */
  readonly drawing: string
  /** Bytes of a key, if all have as many. */
  readonly keySize: number | undefined
  /** Whether and where another engine has them. */
  readonly shipped: Shipped
  key(...values: In<F>): Key
  /** Fills the memory of a key, behind its table byte. */
  fill(into: Key, values: In<F>): Key
  fields(key: Uint8Array): Out<F>
  /** All keys that begin with the first fields; without any all of the table. */
  range(...first: Partial<In<F>>): { gte: Key; lt: Key }
}

/** Declares rows with their number, which is never used again, the fields of their keys, their values, and the shards that have them. */
export function table<const F extends readonly AnyField[], C extends AnyCodec>(
  number: number,
  declared: F,
  value: C,
  shipped: Shipped,
): Table<F> & C & { get(rows: RowReader, ...values: In<F>): ReturnType<C['decode']> | undefined } {
  const fields = declared as readonly unknown[] as readonly Field<unknown>[]
  const sized = fields.map(({ size }) => (typeof size === 'number' ? size : 0)).reduce((sum, size) => sum + size, 0)
  const isSized = fields.every(({ size }) => typeof size === 'number')
  const fill = (into: Key, values: readonly unknown[]): Key => {
    let at = 1
    for (let i = 0; i < values.length; i++) at = (fields[i] as Field<unknown>).write(into, values[i], at)
    return into
  }
  const key = (...values: readonly unknown[]): Key => {
    let length = 1
    for (let i = 0; i < values.length; i++) {
      const { size } = fields[i] as Field<unknown>
      length += typeof size === 'number' ? size : size(values[i])
    }
    const into = Buffer.allocUnsafe(length)
    into[0] = number
    return fill(into, values)
  }
  return {
    ...value,
    number,
    shipped,
    drawing: fields.map(({ drawing }) => drawing).join(', '),
    keySize: isSized ? 1 + sized : undefined,
    key,
    fill,
    fields: (of) => {
      let at = 1
      return fields.map(({ size, read }) => {
        const length = typeof size === 'number' ? size : of.length - 1 - sized
        at += length
        return read(asBuffer(of), at - length, length)
      }) as Out<F>
    },
    range: (...first) => prefixRange(key(...first)),
    get: (rows, ...values) => {
      const row = rows.get(key(...values))
      return row === undefined ? undefined : (value.decode(row) as ReturnType<C['decode']>)
    },
  }
}

/** All keys of a table, by its number. */
export function rangeOf(number: number): { gte: Key; lt: Key } {
  return prefixRange(Buffer.of(number))
}

/** All keys that begin with some bytes. */
export function prefixRange(gte: Key): { gte: Key; lt: Key } {
  const lt = Buffer.from(gte)
  for (let i = lt.length - 1; i >= 0; i--) {
    lt[i] = ((lt[i] as number) + 1) & 0xff
    if (lt[i] !== 0) break
  }
  return { gte, lt }
}
