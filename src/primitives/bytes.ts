import type { Steps } from './steps.js'

/** Byte strings and their text forms. */

/** Lowercase hex of `bytes` in their order. */
export function toHex(bytes: Uint8Array): string {
  return asBuffer(bytes).toString('hex')
}

/** The bytes of an even number of hex digits in either case; undefined for anything else, no text included. */
export function fromHex(text: string): Uint8Array | undefined {
  if (typeof text !== 'string' || text.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(text)) return undefined
  return Buffer.from(text, 'hex')
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
  return toHex(reversed(hash))
}

/** The hash of 64 display hex digits in either case; undefined for any other text. */
export function parseDisplayHash(text: string): Uint8Array | undefined {
  if (text.length !== 64) return undefined
  const bytes = fromHex(text)
  return bytes === undefined ? undefined : reversed(bytes)
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && asBuffer(a).equals(b)
}

/** Order by the first byte that differs: -1, 0 or 1. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  return Buffer.compare(a, b)
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
  return Buffer.concat(parts)
}

/**
 * A copy in memory of its own. Long-lived data must not be a view, which keeps all memory behind it: a message of megabytes, or
 * the 8 KiB from which Node takes small buffers.
 */
export function ownCopy(bytes: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  copy.set(bytes)
  return copy
}

/** {@link ownCopy} for ASCII text: a part of a text keeps the whole text in memory. */
export function ownText(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}

/** A short string that is equal for equal bytes: the key of maps and sets. */
export function mapKey(bytes: Uint8Array): string {
  return asBuffer(bytes).toString('latin1')
}

/** The integer of `bytes`: unsigned, little-endian. */
export function littleEndianInteger(bytes: Uint8Array): bigint {
  return BigInt(`0x${toHex(reversed(bytes)) || '0'}`)
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text of valid UTF-8, a leading BOM kept; undefined for invalid UTF-8. */
export function utf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

/** Bytes of text decoded in one step. */
const textPiece = 256 * 1024

/** {@link utf8} in steps. */
export function* utf8Steps(bytes: Uint8Array): Steps<string | undefined> {
  if (bytes.length <= textPiece) return utf8(bytes)
  const pieces = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let text = ''
  for (let start = 0; start < bytes.length; start += textPiece) {
    try {
      const end = start + textPiece
      text += pieces.decode(bytes.subarray(start, end), { stream: end < bytes.length })
    } catch {
      return undefined
    }
    yield
  }
  return text
}

export function fromUtf8(text: string): Uint8Array {
  return Buffer.from(text, 'utf8')
}

/** The same memory as a Buffer, for its faster text conversions. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
