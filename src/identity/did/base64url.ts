import { fromBase64url, toBase64url } from '../../base/primitives/bytes.js'

const signatureLength = 86

/** The bytes of base64url text without padding; undefined unless {@link isBase64url}. */
export function decodeBase64url(text: string): Uint8Array | undefined {
  return isBase64url(text) ? fromBase64url(text) : undefined
}

/**
 * Whether text is the one encoding of at least one byte: only `[A-Za-z0-9_-]`, a possible length, unused bits zero. Decodes
 * nothing.
 */
export function isBase64url(text: string): boolean {
  const remainder = text.length % 4
  if (text === '' || remainder === 1 || /[^A-Za-z0-9_-]/.test(text)) return false
  // The characters whose unused bits are zero, after groups of four and two or three characters.
  return remainder === 0 || (remainder === 2 ? 'AQgw' : 'AEIMQUYcgkosw048').includes(text.charAt(text.length - 1))
}

export function encodeBase64url(bytes: Uint8Array): string {
  return toBase64url(bytes)
}

/** The number of bytes that base64url text of this many characters decodes to. */
export function decodedLength(characters: number): number {
  return Math.floor((characters * 3) / 4)
}

/** The 64 bytes r‖s of a signature's text: exactly 86 characters, unused bits zero; undefined for anything else. */
export function decodeSignature(text: string): Uint8Array | undefined {
  return text.length === signatureLength ? decodeBase64url(text) : undefined
}
