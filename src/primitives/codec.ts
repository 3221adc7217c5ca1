import { asBuffer, fromUtf8, utf8, utf8Steps } from './bytes.js'
import type { Steps } from './steps.js'

/** Short items read in one step. */
const itemsAtOnce = 16

/** Bytes of a wrong form. The caller turns it into the code of the thing it was reading. */
export class CodecError extends Error {
  override readonly name = 'CodecError'
}

/** Runs `read`, which must consume all of `bytes`; a {@link CodecError} becomes the error of `fail`. */
export function decodeAll<T>(bytes: Uint8Array, read: (reader: Reader) => T, fail: (reason: string) => Error): T {
  const reader = new Reader(bytes)
  try {
    return ended(reader, read(reader))
  } catch (error) {
    throw failureOf(reader, error, fail)
  }
}

/** {@link decodeAll} in steps. */
export function* decodeAllSteps<T>(
  bytes: Uint8Array,
  read: (reader: Reader) => Steps<T>,
  fail: (reason: string) => Error,
): Steps<T> {
  const reader = new Reader(bytes)
  try {
    return ended(reader, yield* read(reader))
  } catch (error) {
    throw failureOf(reader, error, fail)
  }
}

function ended<T>(reader: Reader, value: T): T {
  if (reader.remaining > 0) throw new CodecError(`${reader.remaining} bytes follow the end`)
  return value
}

function failureOf(reader: Reader, error: unknown, fail: (reason: string) => Error): unknown {
  return error instanceof CodecError ? fail(`at byte ${reader.offset}: ${error.message}`) : error
}

/** Reads little-endian primitives (format 1) from one byte string without copying it. */
export class Reader {
  offset = 0
  readonly bytes: Uint8Array
  /** The same memory. */
  private readonly buffer: Buffer

  constructor(bytes: Uint8Array) {
    this.bytes = this.buffer = asBuffer(bytes)
  }

  get remaining(): number {
    return this.bytes.length - this.offset
  }

  /** A view of the next `length` bytes; it shares the memory of the input. */
  take(length: number): Uint8Array {
    const start = this.advance(length)
    return this.bytes.subarray(start, this.offset)
  }

  u8(): number {
    return this.bytes[this.advance(1)] as number
  }

  u16(): number {
    return this.buffer.readUInt16LE(this.advance(2))
  }

  u32(): number {
    return this.buffer.readUInt32LE(this.advance(4))
  }

  u64(): bigint {
    return this.buffer.readBigUInt64LE(this.advance(8))
  }

  i64(): bigint {
    return this.buffer.readBigInt64LE(this.advance(8))
  }

  hash(): Uint8Array {
    return this.take(32)
  }

  /** A compact size; a longer form than needed is refused, and so is a value above `max`. */
  varuint(max: number): number {
    const first = this.u8()
    let value: number | bigint = first
    let least = 0
    if (first === 0xfd) [value, least] = [this.u16(), 0xfd]
    else if (first === 0xfe) [value, least] = [this.u32(), 0x10000]
    else if (first === 0xff) [value, least] = [this.u64(), 0x100000000]
    if (value < least) throw new CodecError('a compact size is not in its shortest form')
    if (value > max) throw new CodecError(`a count or length of ${value} where at most ${max} is allowed`)
    return Number(value)
  }

  /** Length-prefixed bytes of at most `max`. */
  varbytes(max: number): Uint8Array {
    return this.take(this.varuint(max))
  }

  /** Length-prefixed bytes that must be exactly `length` long. */
  fixedbytes(length: number): Uint8Array {
    const bytes = this.varbytes(length)
    if (bytes.length !== length) throw new CodecError(`${bytes.length} bytes where ${length} belong`)
    return bytes
  }

  /** Length-prefixed valid UTF-8 of at most `max` bytes. */
  varstring(max: number): string {
    const text = utf8(this.varbytes(max))
    if (text === undefined) throw new CodecError('text that is not UTF-8')
    return text
  }

  /** `count` items after a compact-size count of at most `max`; each takes at least `size` bytes. */
  list<T>(max: number, size: number, item: () => T): T[] {
    return this.items(this.varuint(max), size, item)
  }

  /** `count` items, refused before any allocation if the input cannot hold them. */
  items<T>(count: number, size: number, item: () => T): T[] {
    if (count * size > this.remaining) throw new CodecError(`${count} items do not fit in what is left`)
    return Array.from({ length: count }, item)
  }

  /** Whether the list at this position has a small count, or the text is short: one step suffices then. */
  get small(): boolean {
    return (this.bytes[this.offset] ?? 0) < 0xfd
  }

  /** {@link varstring} in steps, for texts that may be long. */
  *varstringSteps(max: number): Steps<string> {
    const text = yield* utf8Steps(this.varbytes(max))
    if (text === undefined) throw new CodecError('text that is not UTF-8')
    return text
  }

  /** {@link list} in steps. */
  listSteps<T>(max: number, size: number, item: () => T): Steps<T[]> {
    let count = 0
    return this.itemSteps(this.varuint(max), size, function* () {
      if (++count % itemsAtOnce === 0) yield
      return item()
    })
  }

  /** {@link items}, each read in steps. */
  *itemSteps<T>(count: number, size: number, item: () => Steps<T>): Steps<T[]> {
    if (count * size > this.remaining) throw new CodecError(`${count} items do not fit in what is left`)
    const items: T[] = []
    for (let i = 0; i < count; i++) items.push(yield* item())
    return items
  }

  private advance(length: number): number {
    if (length > this.remaining) throw new CodecError(`the bytes end where ${length} more belong`)
    const start = this.offset
    this.offset += length
    return start
  }
}

/** Writes the forms that {@link Reader} reads, into one growing buffer. */
export class Writer {
  private buffer: Buffer
  private length = 0

  constructor(capacity = 256) {
    this.buffer = Buffer.allocUnsafe(capacity)
  }

  /** All bytes written so far, in a buffer of their size: a copy, unless the capacity was exact. */
  finish(): Uint8Array {
    return this.length === this.buffer.length ? this.buffer : Buffer.from(this.buffer.subarray(0, this.length))
  }

  bytes(bytes: Uint8Array): this {
    // grow() may replace the buffer, so it comes first.
    const at = this.grow(bytes.length)
    this.buffer.set(bytes, at)
    return this
  }

  u8(value: number): this {
    const at = this.grow(1)
    this.buffer.writeUInt8(value, at)
    return this
  }

  u16(value: number): this {
    const at = this.grow(2)
    this.buffer.writeUInt16LE(value, at)
    return this
  }

  u32(value: number): this {
    const at = this.grow(4)
    this.buffer.writeUInt32LE(value, at)
    return this
  }

  u64(value: bigint): this {
    const at = this.grow(8)
    this.buffer.writeBigUInt64LE(value, at)
    return this
  }

  i64(value: bigint): this {
    const at = this.grow(8)
    this.buffer.writeBigInt64LE(value, at)
    return this
  }

  varuint(value: number): this {
    if (value < 0xfd) return this.u8(value)
    if (value < 0x10000) return this.u8(0xfd).u16(value)
    if (value < 0x100000000) return this.u8(0xfe).u32(value)
    return this.u8(0xff).u64(BigInt(value))
  }

  varbytes(bytes: Uint8Array): this {
    return this.varuint(bytes.length).bytes(bytes)
  }

  varstring(text: string): this {
    return this.varbytes(fromUtf8(text))
  }

  list<T>(items: readonly T[], item: (value: T) => void): this {
    this.varuint(items.length)
    items.forEach(item)
    return this
  }

  private grow(length: number): number {
    const at = this.length
    this.length += length
    if (this.length > this.buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.length, this.buffer.length * 2))
      this.buffer.copy(larger, 0, 0, at)
      this.buffer = larger
    }
    return at
  }
}
