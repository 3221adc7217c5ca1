import { ripemd160 } from '@noble/hashes/legacy.js'
import { sha256 } from '@noble/hashes/sha2.js'
import bs58 from 'bs58'

/**
 * Documents of the chain in the form of W3C DID Core. Web pages use this file too: it imports nothing that a browser lacks, and
 * parses documents itself. Its input has passed the strict reader of the chain.
 */

export interface W3cVerificationMethod {
  /** Absolute. */
  readonly id: string
  readonly type: 'Multikey'
  readonly controller: string
  /** `z` and the base58 text of 0x80 0x24 and the 33 bytes of the compressed P-256 point. */
  readonly publicKeyMultibase: string
}

export interface W3cService {
  /** Absolute. */
  readonly id: string
  readonly type: string
  readonly serviceEndpoint: string
  readonly [member: string]: unknown
}

export interface W3cDocument {
  readonly '@context': string[]
  readonly id: string
  /** Every key, also those that other DIDs control. */
  readonly verificationMethod: W3cVerificationMethod[]
  /** Absolute ids. */
  readonly authentication: string[]
  readonly assertionMethod: string[]
  readonly service?: W3cService[]
}

/** Members of a document on the chain, compact or normalised, that have a counterpart in W3C form. */
interface ChainDocument {
  readonly '@context'?: readonly string[]
  readonly id: string
  readonly publicKey?: readonly ChainKey[]
  readonly authentication?: readonly (string | ChainKey)[]
  readonly authorization?: readonly (string | ChainKey)[]
  readonly service?: readonly W3cService[]
  readonly expires: string
}

interface ChainKey {
  readonly id: string
  readonly controller?: string
  readonly publicKeyBase58: string
}

const contexts = ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1']
/** The multicodec of a compressed P-256 point, as varint. */
const multicodec = Uint8Array.of(0x80, 0x24)

/**
 * The W3C form of a document, given as the JSON text that a chain accepted, and its expiry, which belongs to the metadata. Keys
 * become Multikeys. Authentication keys may also make assertions. The power to deactivate, credentials and the proof have no
 * counterpart and are left out. Throws for text that no chain accepts.
 */
export function w3cDocument(text: string): { readonly document: W3cDocument; readonly expires: string } {
  const source = JSON.parse(text) as ChainDocument
  const { id, publicKey = [], authentication = [], authorization = [], service = [], expires } = source
  const absolute = (reference: string) => (reference.startsWith('#') ? id + reference : reference)
  const embedded = [...authentication, ...authorization].filter((entry) => typeof entry !== 'string')
  const keys = [...publicKey, ...embedded]
    .map((key) => ({ ...key, id: absolute(key.id), controller: key.controller ?? id }))
    .sort(byId)
  const own = keys.find((key) => key.controller === id && id.endsWith(`:${identifierOfKey(key.publicKeyBase58)}`))
  const listed = authentication.map((entry) => absolute(typeof entry === 'string' ? entry : entry.id))
  // The key that derives the DID authenticates, listed or not.
  const authenticating = [...new Set(own === undefined ? listed : [...listed, own.id])].sort()
  const services = service.map((entry) => ({ ...entry, id: absolute(entry.id) })).sort(byId)
  const document = {
    '@context': [...new Set([...contexts, ...(source['@context'] ?? [])])],
    id,
    verificationMethod: keys.map(multikey),
    authentication: authenticating,
    assertionMethod: [...authenticating],
    ...(services.length === 0 ? {} : { service: services }),
  }
  return { document, expires }
}

function multikey({ id, controller, publicKeyBase58 }: Required<ChainKey>): W3cVerificationMethod {
  const bytes = joined(multicodec, bs58.decode(publicKeyBase58))
  return { id, type: 'Multikey', controller, publicKeyMultibase: `z${bs58.encode(bytes)}` }
}

/** Whether `text` is an identifier that a key can have: 34 characters of base58, prefix of DIDs, valid checksum. */
export function isKeyIdentifier(text: string): boolean {
  const bytes = text.length === 34 ? bs58.decodeUnsafe(text) : undefined
  if (bytes?.length !== 25 || bytes[0] !== didPrefix) return false
  return checksum(bytes.subarray(0, 21)).every((byte, i) => byte === bytes[21 + i])
}

const didPrefix = 0x67

/** The identifier derived from a key: base58check of the hash of its DID script. */
function identifierOfKey(publicKeyBase58: string): string {
  const script = joined(Uint8Array.of(0x21), bs58.decode(publicKeyBase58), Uint8Array.of(0xad))
  const hash = joined(Uint8Array.of(didPrefix), ripemd160(sha256(script)))
  return bs58.encode(joined(hash, checksum(hash)))
}

function checksum(bytes: Uint8Array): Uint8Array {
  return sha256(sha256(bytes)).subarray(0, 4)
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]))
}

/** By UTF-16 code unit, as in canonical text. */
function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0
}
