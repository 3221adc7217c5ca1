import { fromBase64url, toBase64url } from '../primitives/bytes.js'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
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
  const unusedBits = remainder === 2 ? 0b1111 : remainder === 3 ? 0b11 : 0
  return (alphabet.indexOf(text.charAt(text.length - 1)) & unusedBits) === 0
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
