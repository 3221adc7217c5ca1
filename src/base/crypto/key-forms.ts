import bs58 from 'bs58'
import { RuleError, UserError } from '../errors/rule-error.js'
import { fromBase64url, fromHex, toBase64, toBase64url, toHex, concat } from '../primitives/bytes.js'
import {
  type FoundKey,
  keyOfDer,
  pkcs8,
  privateKeyWith,
  publicKeyInfo,
  publicKeyOfPoint,
  uncompressed,
} from './der-key.js'
import { parseStrictJson } from '../primitives/strict-json.js'
import { hexFault } from '../primitives/hex-fault.js'
import { publicKeyOf } from './keys.js'

/**
 * Reads and writes keys of P-256 in the forms of other tools: hex, base58, PEM, DER in base64, JWK. No message shows a part of a key that
 * was read: it may be a private one. Runs in web pages.
 */

/** A JSON Web Key (RFC 7517) of P-256; `d`: the private key. */
export interface Jwk {
  readonly kty: string
  readonly crv?: string
  readonly x?: string
  readonly y?: string
  readonly d?: string
}

/** A key in any form that is read: its bytes, a text, or a JWK. */
export type KeyInput = Uint8Array | string | Jwk

/** Forms that keys are written in. `der` is the base64 of what `pem` has: PKCS #8 of a private key, SubjectPublicKeyInfo of a public one. */
export const keyForms = ['hex', 'base58', 'pem', 'der', 'jwk'] as const
export type KeyForm = (typeof keyForms)[number]

/** @limit characters: text of a key in a form of other tools */
const longestKey = 16_384

/** The compressed public key, 33 bytes, in any form. A {@link UserError} that begins with `what` for anything else. */
export function readPublicKey(input: KeyInput, what = 'the key'): Uint8Array {
  const { publicKey } = read(input, what)
  if (publicKey !== undefined) return publicKey
  throw privateGiven(what)
}

export function privateGiven(what: string): UserError {
  return new UserError(`${what} is a private key, and a public one is needed here; show the private one to nobody`)
}

/** The private key, 32 bytes, in any form. A {@link UserError} that begins with `what` for anything else. */
export function readPrivateKey(input: KeyInput, what = 'the key'): Uint8Array {
  const { privateKey } = read(input, what)
  if (privateKey !== undefined) return privateKey
  throw new UserError(`${what} is a public key, and the private one is needed here`)
}

/** A public key of 33 bytes as text; PEM ends with a line break. */
export function formatPublicKey(publicKey: Uint8Array, form: KeyForm): string {
  if (form === 'pem' || form === 'der') return derText(publicKeyInfo(publicKey), form, 'PUBLIC KEY')
  if (form === 'jwk') return JSON.stringify(jwkOf(publicKey))
  return form === 'hex' ? toHex(publicKey) : bs58.encode(publicKey)
}

/** A private key of 32 bytes as text, with the public one where the form has a place for it; PEM ends with a line break. */
export function formatPrivateKey(privateKey: Uint8Array, form: KeyForm): string {
  if (form === 'pem' || form === 'der') return derText(pkcs8(privateKey), form, 'PRIVATE KEY')
  if (form === 'jwk') return JSON.stringify({ ...jwkOf(publicKeyOf(privateKey)), d: toBase64url(privateKey) })
  return form === 'hex' ? toHex(privateKey) : bs58.encode(privateKey)
}

function read(input: KeyInput, what: string): FoundKey {
  try {
    if (typeof input === 'string') return keyOfText(input.trim())
    if (input instanceof Uint8Array) return keyOfBytes(input)
    return keyOfJwk(input)
  } catch (error) {
    if (error instanceof UserError) throw new UserError(`${what} cannot be read: ${error.message}`)
    throw error
  }
}

const forms = 'a key is given in hex, in base58, as PEM, as base64 of PKCS #8, or as JWK'

function keyOfText(text: string): FoundKey {
  if (text === '') throw new UserError(`it is empty; ${forms}`)
  if (text.length > longestKey) throw new UserError(`it is longer than ${longestKey} characters; ${forms}`)
  if (text.includes('-----BEGIN ')) return keyOfPem(text)
  if (text.startsWith('{')) return keyOfJwk(jsonOf(text))
  if (text.includes('\ufffd')) {
    throw new UserError('it is no text; "openssl pkey -inform DER -in FILE -out NEW" writes DER as PEM')
  }
  // Tools break long lines, of base64 after 76 characters.
  const bare = text.replace(/^0x|\s/gi, '')
  if (/^[0-9a-f]{48,}$/i.test(bare)) return keyOfHex(bare)
  return keyOfBase64(bare) ?? keyOfBase58(text)
}

function keyOfHex(text: string): FoundKey {
  const bytes = fromHex(text)
  if (bytes === undefined || ![32, 33, 65].includes(bytes.length)) {
    throw new UserError(`it has ${text.length} hex digits; a private key has 64, a public one 66 or 130`)
  }
  return keyOfBytes(bytes)
}

function keyOfBase58(text: string): FoundKey {
  const bytes = text.length > 100 ? undefined : bs58.decodeUnsafe(text)
  if (bytes === undefined) throw new UserError(`it has none of the known forms; ${hexDoubt(text) ?? forms}`)
  if (![32, 33, 65].includes(bytes.length)) {
    throw new UserError(`it is base58 of ${bytes.length} bytes; a private key has 32, a public one 33 or 65`)
  }
  return keyOfBytes(bytes)
}

/** The fault of a text as long as a key in hex. */
function hexDoubt(text: string): string | undefined {
  const bare = text.replace(/^0x/i, '')
  return [64, 66, 130].includes(bare.length) ? `as hex, ${hexFault(bare)}` : undefined
}

/** The key in the base64 of DER, whose first character is M; undefined for another text. */
function keyOfBase64(text: string): FoundKey | undefined {
  const bytes = text.startsWith('M') ? base64Bytes(text) : undefined
  return bytes && keyOfDer(bytes)
}

function keyOfBytes(bytes: Uint8Array): FoundKey {
  if (bytes.length === 32) return privateKeyWith(bytes, undefined)
  if (bytes.length === 33 || bytes.length === 65) return { publicKey: publicKeyOfPoint(bytes) }
  const found = bytes.length > longestKey ? undefined : keyOfDer(bytes)
  if (found !== undefined) return found
  throw new UserError(`it has ${bytes.length} bytes; a private key has 32, a public one 33 or 65, and PKCS #8 is DER`)
}

/** The first key in a text of PEM blocks; parameters of a curve may stand before it. */
function keyOfPem(text: string): FoundKey {
  const blocks = [...text.matchAll(/-----BEGIN ([A-Z0-9 ]{1,40})-----([^]*?)-----END \1-----/g)]
  const [, label, body = ''] = blocks.find(([, name = '']) => name !== 'EC PARAMETERS') ?? []
  if (label === undefined) throw new UserError('its PEM has no end: lines are missing')
  if (label === 'ENCRYPTED PRIVATE KEY' || /^Proc-Type:.*ENCRYPTED/m.test(body)) {
    throw new UserError('it is encrypted; "openssl pkey -in FILE -out NEW" asks for its password and writes it without')
  }
  const fault = otherBlocks[label]
  if (fault !== undefined) throw new UserError(fault)
  const bytes = base64Bytes(body.replace(/\s/g, ''))
  const found = bytes && keyOfDer(bytes)
  if (found === undefined) throw new UserError('its PEM holds no key: characters are missing, or other ones')
  return found
}

/** Blocks that hold no key of P-256 that is read here, with what to do. */
const otherBlocks: Readonly<Record<string, string>> = {
  'OPENSSH PRIVATE KEY': 'it is a file of OpenSSH; "ssh-keygen -p -m PKCS8 -f FILE" writes it as PKCS #8',
  'RSA PRIVATE KEY': 'it is a key of RSA, not of P-256',
  CERTIFICATE: 'it is a certificate; "openssl x509 -in FILE -pubkey -noout" prints the key in it',
}

function keyOfJwk(value: unknown): FoundKey {
  if (typeof value !== 'object' || value === null) throw new UserError(`it is no text; ${forms}`)
  const { kty, crv, x, y, d } = value as Readonly<Record<string, unknown>>
  if (kty !== 'EC') throw new UserError(`as JWK it has kty ${shown(kty)}, where EC is needed`)
  if (crv !== 'P-256') throw new UserError(`as JWK it has crv ${shown(crv)}, where P-256 is needed`)
  const point = x === undefined && y === undefined && d !== undefined ? undefined : [part(x, 'x'), part(y, 'y')]
  const bytes = point && concat(Uint8Array.of(4), ...point)
  if (d !== undefined) return privateKeyWith(part(d, 'd'), bytes)
  return { publicKey: publicKeyOfPoint(bytes as Uint8Array) }
}

/** A member that is no secret; another value than a short text may hold anything. */
function shown(value: unknown): string {
  return typeof value === 'string' && /^[\w-]{1,20}$/.test(value) ? value : value === undefined ? 'missing' : 'unknown'
}

function part(value: unknown, name: string): Uint8Array {
  const bytes = typeof value === 'string' && /^[A-Za-z0-9_-]{43}$/.test(value) ? fromBase64url(value) : undefined
  if (bytes === undefined) throw new UserError(`as JWK its ${name} is not base64url of 32 bytes`)
  return bytes
}

function jsonOf(text: string): unknown {
  try {
    parseStrictJson(text, { depth: 99, tokens: longestKey })
  } catch (error) {
    // The messages of the parser show parts of the text.
    const isTwice = error instanceof RuleError && error.code === 'json-duplicate-name'
    throw new UserError(isTwice ? 'as JWK it has a member twice' : 'it begins as a JWK but is no strict JSON')
  }
  return JSON.parse(text)
}

/** The bytes of base64 or base64url, padded or not; undefined for other text. */
export function base64Bytes(text: string): Uint8Array | undefined {
  const bare = text.replace(/={1,2}$/, '')
  return /^[A-Za-z0-9+/_-]+$/.test(bare) && bare.length % 4 !== 1 ? fromBase64url(bare) : undefined
}

function derText(bytes: Uint8Array, form: 'pem' | 'der', label: string): string {
  const text = toBase64(bytes)
  if (form === 'der') return text
  const lines = text.match(/.{1,64}/g) ?? []
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
}

function jwkOf(publicKey: Uint8Array): Jwk {
  const point = uncompressed(publicKey)
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map(toBase64url) as [string, string]
  return { kty: 'EC', crv: 'P-256', x, y }
}
