import { concat } from '../primitives/bytes.js'

/** DER (X.690) as far as files of keys need it: tags of one byte, lengths below 64 KiB. Runs in web pages. */

/** Tags of the elements in files of keys; `curve` and `point` are those of an ECPrivateKey (RFC 5915). */
export const derTag = {
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  name: 0x06,
  sequence: 0x30,
  curve: 0xa0,
  point: 0xa1,
} as const

export interface DerElement {
  readonly tag: number
  readonly content: Uint8Array
}

/** The elements that bytes consist of; undefined for bytes that are not DER. */
export function derElements(bytes: Uint8Array): DerElement[] | undefined {
  const elements: DerElement[] = []
  for (let at = 0; at < bytes.length;) {
    const found = elementAt(bytes, at)
    if (found === undefined) return undefined
    elements.push({ tag: bytes[at] as number, content: bytes.subarray(found.start, found.end) })
    at = found.end
  }
  return elements
}

/** An element with the bytes of its parts as contents. */
export function derElement(tag: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const content = concat(...parts)
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >>> 8, length & 0xff]
  return concat(Uint8Array.of(tag, ...size), content)
}

/** Begin and end of the contents of the element at a place. */
function elementAt(bytes: Uint8Array, at: number): { readonly start: number; readonly end: number } | undefined {
  const first = bytes[at + 1]
  // A further byte of a length is a number of bytes that follow; more than two are no file of a key.
  const more = first === 0x81 ? 1 : first === 0x82 ? 2 : 0
  const start = at + 2 + more
  if (first === undefined || (first >= 0x80 && more === 0) || start > bytes.length) return undefined
  const length = more === 0 ? first : bytes.subarray(at + 2, start).reduce((value, byte) => value * 256 + byte, 0)
  // The shortest form alone is DER.
  if ((more === 1 && length < 0x80) || (more === 2 && length < 0x100)) return undefined
  return start + length > bytes.length ? undefined : { start, end: start + length }
}
