import { allocate, asBytes, copyOf, fromUtf8, putMapKey, putUint32, requireUnsigned, utf8 } from './bytes.js'

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

/** Returns the value read, unless bytes follow it. */
export function ended<T>(reader: Reader, value: T): T {
  if (reader.remaining > 0) throw new CodecError(`${reader.remaining} bytes follow the end`)
  return value
}

/** The error of a reader in the words of the thing that it was reading. */
export function failureOf(reader: Reader, error: unknown, fail: (reason: string) => Error): unknown {
  return error instanceof CodecError ? fail(`at byte ${reader.offset}: ${error.message}`) : error
}

/** Reads little-endian primitives (format 1) from one byte string without copying it. */
export class Reader {
  offset = 0
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = asBytes(bytes)
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
    return uint16(this.bytes, this.advance(2))
  }

  u32(): number {
    return uint32(this.bytes, this.advance(4))
  }

  u64(): bigint {
    return uint64(this.bytes, this.advance(8))
  }

  i64(): bigint {
    return BigInt.asIntN(64, this.u64())
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
  list<T>(max: number, size: number, item: (reader: this) => T): T[] {
    return this.items(this.varuint(max), size, item)
  }

  /** `count` items, refused before any allocation if the input cannot hold them. */
  items<T>(count: number, size: number, item: (reader: this) => T): T[] {
    if (count * size > this.remaining) throw new CodecError(`${count} items do not fit in what is left`)
    // Of its final size: an array that grows begins with room for many.
    const items = new Array<T>(count)
    for (let i = 0; i < count; i++) items[i] = item(this)
    return items
  }

  /** Whether the list at this position has a small count, or the text is short: one step suffices then. */
  get small(): boolean {
    return (this.bytes[this.offset] ?? 0) < 0xfd
  }

  /** Goes past the next `length` bytes; returns where they begin. */
  advance(length: number): number {
    if (length > this.remaining) throw new CodecError(`the bytes end where ${length} more belong`)
    const start = this.offset
    this.offset += length
    return start
  }
}

/** Eight bytes as an unsigned integer. */
export function uint64(bytes: Uint8Array, at: number): bigint {
  const [low, high] = [uint32(bytes, at), uint32(bytes, at + 4)]
  // Most amounts and heights are safe integers, for which one bigint is made instead of four.
  return high < 0x200000 ? BigInt(high * 0x100000000 + low) : (BigInt(high) << 32n) | BigInt(low)
}

/** Two bytes as an unsigned integer. */
export function uint16(bytes: Uint8Array, at: number): number {
  return (bytes[at] as number) | ((bytes[at + 1] as number) << 8)
}

/** Four bytes as an unsigned integer. No loop: this is read more often than anything else. */
export function uint32(bytes: Uint8Array, at: number): number {
  const low = (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16)
  return low + (bytes[at + 3] as number) * 0x1000000
}

/** Writes the forms that {@link Reader} reads, into one growing buffer. */
export class Writer {
  private buffer: Uint8Array
  private length = 0
  private isFixed = false

  constructor(capacity = 256) {
    this.buffer = allocate(capacity)
  }

  /** A writer into memory that it fills from the beginning, again after each {@link restart}; a RangeError where that does not suffice. */
  static over(memory: Uint8Array): Writer {
    const writer = new Writer(0)
    writer.buffer = memory
    writer.isFixed = true
    return writer
  }

  restart(): this {
    this.length = 0
    return this
  }

  /** All bytes written so far, in a buffer of their size: a copy, unless the capacity was exact. */
  finish(): Uint8Array {
    return this.length === this.buffer.length ? this.buffer : copyOf(this.buffer.subarray(0, this.length))
  }

  bytes(bytes: Uint8Array): this {
    // grow() may replace the buffer, so it comes first.
    const at = this.grow(bytes.length)
    this.buffer.set(bytes, at)
    return this
  }

  /** The bytes of a `mapKey`. */
  mapKey(key: string): this {
    const at = this.grow(key.length)
    putMapKey(this.buffer, at, key)
    return this
  }

  u8(value: number): this {
    requireUnsigned(value, 0xff)
    const at = this.grow(1)
    this.buffer[at] = value
    return this
  }

  u16(value: number): this {
    requireUnsigned(value, 0xffff)
    const at = this.grow(2)
    this.buffer[at] = value
    this.buffer[at + 1] = value >>> 8
    return this
  }

  u32(value: number): this {
    const at = this.grow(4)
    putUint32(this.buffer, at, value)
    return this
  }

  u64(value: bigint): this {
    if (value !== BigInt.asUintN(64, value)) throw new RangeError(`${value} is no unsigned integer of 64 bits`)
    return this.putUint64(value)
  }

  i64(value: bigint): this {
    if (value !== BigInt.asIntN(64, value)) throw new RangeError(`${value} is no signed integer of 64 bits`)
    return this.putUint64(BigInt.asUintN(64, value))
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

  private putUint64(value: bigint): this {
    const at = this.grow(8)
    // Most amounts and heights are safe integers, for which no further bigint is made.
    const number = Number(value)
    const isSafe = number <= Number.MAX_SAFE_INTEGER
    putUint32(this.buffer, at, isSafe ? number % 0x100000000 : Number(value & 0xffffffffn))
    putUint32(this.buffer, at + 4, isSafe ? Math.floor(number / 0x100000000) : Number(value >> 32n))
    return this
  }

  private grow(length: number): number {
    const at = this.length
    this.length += length
    if (this.length > this.buffer.length) {
      if (this.isFixed) throw new RangeError(`more than the ${this.buffer.length} bytes that there is room for`)
      const larger = allocate(Math.max(this.length, this.buffer.length * 2))
      larger.set(this.buffer.subarray(0, at))
      this.buffer = larger
    }
    return at
  }
}
