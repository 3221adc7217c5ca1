import { CodecError, type Reader, type Writer } from './codec.js'

/** Forms of values in bytes, for both directions. Integers are little-endian. */

export interface Form<T> {
  /** Bytes of every value, if all have as many. */
  readonly valueSize?: number
  write(writer: Writer, value: T): Writer
  read(reader: Reader): T
}

export const u8 = integer('u8', 1)
export const u16 = integer('u16', 2)
export const u32 = integer('u32', 4)
/** Safe integers in eight bytes. */
export const [u64, i64] = [wide('u64'), wide('i64')]

function integer(name: 'u8' | 'u16' | 'u32', valueSize: number): Form<number> {
  return { valueSize, write: (writer, value) => writer[name](value), read: (reader) => reader[name]() }
}

function wide(name: 'u64' | 'i64'): Form<number> {
  return {
    valueSize: 8,
    write: (writer, value) => writer[name](BigInt(value)),
    read: (reader) => Number(reader[name]()),
  }
}

/** A compact size of at most `max`. */
export function varuint(max: number): Form<number> {
  return { write: (writer, value) => writer.varuint(value), read: (reader) => reader.varuint(max) }
}

export const flag: Form<boolean> = {
  valueSize: 1,
  write: (writer, value) => writer.u8(value ? 1 : 0),
  read: (reader) => {
    const byte = reader.u8()
    if (byte > 1) throw new CodecError('a flag is neither 0 nor 1')
    return byte === 1
  },
}

/** Bytes of one length. */
export function bytes(size: number): Form<Uint8Array> {
  return { valueSize: size, write: (writer, value) => writer.bytes(value), read: (reader) => reader.take(size) }
}

export const hash: Form<Uint8Array> = bytes(32)

/** A list of at most `max`, behind their number; each takes at least `least` bytes. */
export function list<T>(max: number, least: number, item: Form<T>): Form<readonly T[]> {
  return {
    write: (writer, items) => writer.list(items, (one) => item.write(writer, one)),
    read: (reader) => reader.list(max, least, () => item.read(reader)),
  }
}

/** All bytes that are left. */
export const rest: Form<Uint8Array> = {
  write: (writer, value) => writer.bytes(value),
  read: (reader) => reader.take(reader.remaining),
}

/** At most so many bytes, behind their number. */
export function varbytes(max: number): Form<Uint8Array> {
  return { write: (writer, value) => writer.varbytes(value), read: (reader) => reader.varbytes(max) }
}

/** Text of at most so many bytes of UTF-8, behind their number. */
export function varstring(max: number): Form<string> {
  return { write: (writer, value) => writer.varstring(value), read: (reader) => reader.varstring(max) }
}

/** Values of a form of which `holds` is true; the others are refused on reading with a reason. */
export function where<T>(form: Form<T>, holds: (value: T) => boolean, reason: string): Form<T> {
  return {
    ...form,
    read: (reader) => {
      const value = form.read(reader)
      if (!holds(value)) throw new CodecError(reason)
      return value
    },
  }
}

/** One of some values: its place among them, in one byte. */
export function oneOf<T>(values: readonly T[]): Form<T> {
  return {
    valueSize: 1,
    write: (writer, value) => writer.u8(values.indexOf(value)),
    read: (reader) => {
      const number = reader.u8()
      const value = values[number]
      if (value === undefined) throw new CodecError(`there is no value ${number}`)
      return value
    },
  }
}

/** The members of an object, in the order in which they are declared here. Takes longer than code for one kind: not for what is read by the thousand. */
export function record<T extends object>(members: { readonly [Name in keyof T]-?: Form<T[Name]> }): Form<T> {
  const forms = Object.entries(members) as [keyof T, Form<T[keyof T]>][]
  const sizes = forms.map(([, { valueSize = NaN }]) => valueSize)
  const valueSize = sizes.reduce((sum, size) => sum + size, 0)
  return {
    ...(!Number.isNaN(valueSize) && { valueSize }),
    write: (writer, value) => {
      for (const [name, form] of forms) form.write(writer, value[name])
      return writer
    },
    read: (reader) => {
      const value = {} as T
      for (const [name, form] of forms) value[name] = form.read(reader)
      return value
    },
  }
}
