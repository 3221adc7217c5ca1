import { nodeCrypto } from '../runtime/node-crypto.js'

/**
 * Byte strings and their text forms, by Buffer. Web pages use this file too: outside Node, where a bundler may bring a Buffer with fewer
 * encodings, the standard's own classes do the same more slowly, and what is returned is a plain Uint8Array.
 */
const fast = nodeCrypto !== undefined

/** Lowercase hex of `bytes` in their order. */
export function toHex(bytes: Uint8Array): string {
  return fast ? asBuffer(bytes).toString('hex') : Array.from(bytes, hexByte).join('')
}

const hexByte = (byte: number) => byte.toString(16).padStart(2, '0')

/** The bytes of an even number of hex digits in either case; undefined for anything else, no text included. */
export function fromHex(text: string): Uint8Array | undefined {
  if (typeof text !== 'string' || text.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(text)) return undefined
  return fast ? Buffer.from(text, 'hex') : Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16))
}

/** Bytes of hex written by this program. */
export function hex(text: string): Uint8Array {
  const bytes = fromHex(text)
  if (bytes === undefined) throw new TypeError(`not hex: ${text.slice(0, 80)}`)
  return bytes
}

/** A reversed copy: converts between internal and display order. */
export function reversed(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes).reverse()
}

/** Display hex of a hash: reversed, lowercase (format 1.5). */
export function displayHash(hash: Uint8Array): string {
  return toHex(copyOf(hash).reverse())
}

/** The hash of 64 display hex digits in either case; undefined for any other text. */
export function parseDisplayHash(text: string): Uint8Array | undefined {
  if (text.length !== 64) return undefined
  const bytes = fromHex(text)
  return bytes === undefined ? undefined : reversed(bytes)
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && (fast ? asBuffer(a).equals(b) : compareBytes(a, b) === 0)
}

/** Order by the first byte that differs: -1, 0 or 1. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  if (fast) return Buffer.compare(a, b)
  const end = Math.min(a.length, b.length)
  for (let i = 0; i < end; i++) {
    const difference = (a[i] as number) - (b[i] as number)
    if (difference !== 0) return Math.sign(difference)
  }
  return Math.sign(a.length - b.length)
}

/** Order as little-endian integers of equal length, that is, from the last byte (format 1.7). */
export function compareLittleEndian(a: Uint8Array, b: Uint8Array): number {
  for (let i = a.length - 1; i >= 0; i--) {
    const difference = (a[i] as number) - (b[i] as number)
    if (difference !== 0) return Math.sign(difference)
  }
  return 0
}

export function concat(...parts: Uint8Array[]): Uint8Array {
  return fast ? Buffer.concat(parts) : joined(...parts)
}

/** Parts one behind the other, numbers as four bytes, little-endian. */
export function joined(...parts: (Uint8Array | number)[]): Uint8Array {
  const whole = allocate(parts.reduce<number>((sum, part) => sum + sizeOf(part), 0))
  let at = 0
  for (const part of parts) {
    if (typeof part === 'number') putUint32(whole, at, part)
    else whole.set(part, at)
    at += sizeOf(part)
  }
  return whole
}

function sizeOf(part: Uint8Array | number): number {
  return typeof part === 'number' ? 4 : part.length
}

/** Views of parts that are `size` bytes each. */
export function pieces(bytes: Uint8Array, size: number): Uint8Array[] {
  return Array.from({ length: bytes.length / size }, (_, i) => bytes.subarray(i * size, (i + 1) * size))
}

export function putUint32(bytes: Uint8Array, at: number, value: number): void {
  requireUnsigned(value, 0xffffffff)
  bytes[at] = value
  bytes[at + 1] = value >>> 8
  bytes[at + 2] = value >>> 16
  bytes[at + 3] = value >>> 24
}

export function requireUnsigned(value: number, most: number): void {
  if (!(value >= 0 && value <= most)) throw new RangeError(`${value} is not from 0 to ${most}`)
}

/**
 * A copy in memory of its own. Long-lived data must not be a view, which keeps all memory behind it: a message of megabytes, or
 * the 8 KiB from which Node takes small buffers.
 */
export function ownCopy(bytes: Uint8Array): Uint8Array {
  const copy = fast ? Buffer.allocUnsafeSlow(bytes.length) : new Uint8Array(bytes.length)
  copy.set(bytes)
  return copy
}

/** {@link ownCopy} for ASCII text: a part of a text keeps the whole text in memory. */
export function ownText(text: string): string {
  return fast ? Buffer.from(text, 'latin1').toString('latin1') : text
}

/** A short string that is equal for equal bytes: the key of maps and sets. */
export function mapKey(bytes: Uint8Array): string {
  if (fast) return asBuffer(bytes).toString('latin1')
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return text
}

/** {@link mapKey} of a part, without a view of it. */
export function mapKeyOf(bytes: Uint8Array, start: number, end: number): string {
  return fast ? asBuffer(bytes).toString('latin1', start, end) : mapKey(bytes.subarray(start, end))
}

/** The bytes of a {@link mapKey}. */
export function ofMapKey(key: string): Uint8Array {
  const bytes = allocate(key.length)
  putMapKey(bytes, 0, key)
  return bytes
}

/** Writes the bytes of a {@link mapKey}. */
export function putMapKey(bytes: Uint8Array, at: number, key: string): void {
  if (fast) asBuffer(bytes).write(key, at, 'latin1')
  else for (let i = 0; i < key.length; i++) bytes[at + i] = key.charCodeAt(i)
}

/** The integer of `bytes`: unsigned, little-endian. */
export function littleEndianInteger(bytes: Uint8Array): bigint {
  return BigInt(`0x${toHex(reversed(bytes)) || '0'}`)
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text of valid UTF-8, a leading BOM kept; undefined for invalid UTF-8. */
export function utf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

export function fromUtf8(text: string): Uint8Array {
  return fast ? Buffer.from(text, 'utf8') : encoder.encode(text)
}

const lossy = /* @__PURE__ */ new TextDecoder('utf-8', { ignoreBOM: true })

/** The text of UTF-8 with U+FFFD for what is none. */
export function anyUtf8(bytes: Uint8Array): string {
  return lossy.decode(bytes)
}

/** The bytes of base64url text; the caller has checked its form. */
export function fromBase64url(text: string): Uint8Array {
  if (fast) return Buffer.from(text, 'base64url')
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (character) => character.charCodeAt(0))
}

/** Characters decoded at once, a multiple of four: memory for longer texts is dear. */
const base64urlPiece = 64 * 1024

/** {@link fromBase64url} of text in ASCII bytes. */
export function fromBase64urlBytes(text: Uint8Array): Uint8Array {
  if (!fast) return fromBase64url(mapKey(text))
  const bytes = Buffer.allocUnsafe(Math.floor((text.length * 3) / 4))
  for (let at = 0; at < text.length; at += base64urlPiece) {
    bytes.write(mapKey(text.subarray(at, at + base64urlPiece)), (at / 4) * 3, 'base64url')
  }
  return bytes
}

/** Base64 with padding. */
export function toBase64(bytes: Uint8Array): string {
  return fast ? asBuffer(bytes).toString('base64') : btoa(mapKey(bytes))
}

/** Base64url without padding. */
export function toBase64url(bytes: Uint8Array): string {
  if (fast) return asBuffer(bytes).toString('base64url')
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

/** Memory for bytes that are all written before they are read. */
export function allocate(length: number): Uint8Array {
  return fast ? Buffer.allocUnsafe(length) : new Uint8Array(length)
}

/** A copy, in memory shared with other small ones where there is Buffer. */
export function copyOf(bytes: Uint8Array): Uint8Array {
  return fast ? Buffer.from(bytes) : new Uint8Array(bytes)
}

/** The same memory as a Buffer where there is one: parts of it are made faster. */
export function asBytes(bytes: Uint8Array): Uint8Array {
  return fast ? asBuffer(bytes) : bytes
}

/** The same memory as a Buffer, for its text conversions; not for what web pages use. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
