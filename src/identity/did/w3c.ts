import { ripemd160 } from '@noble/hashes/legacy.js'
import { sha256 } from '@noble/hashes/sha2.js'
import bs58 from 'bs58'
import { coordinatesOf } from '../../base/primitives/p256.js'
import { isUri } from './uri.js'

/**
 * Documents of the chain in the form of W3C DID Core. Web pages use this file too: it imports nothing that a browser lacks, and
 * parses documents itself. Its input has passed the strict reader of the chain.
 */

/** The two forms in which a document can list its keys. */
export type KeyForm = 'Multikey' | 'JsonWebKey'

export interface W3cVerificationMethod {
  /** Absolute. */
  id: string
  type: KeyForm
  /** The DID itself. */
  controller: string
  /** With `Multikey`: `z` and the base58 text of 0x80 0x24 and the 33 bytes of the compressed P-256 point; of X25519 0xec 0x01 and 32 bytes. */
  publicKeyMultibase?: string
  /** With `JsonWebKey`: the coordinates in base64url; X25519 has no `y`. */
  publicKeyJwk?: { kty: string; crv: string; x: string; y?: string }
}

/** Endpoints of a service: DID Core 5.4. */
export type W3cEndpoint = string | Record<string, unknown> | (string | Record<string, unknown>)[]

export interface W3cService {
  /** Absolute. */
  id: string
  type: string
  serviceEndpoint: W3cEndpoint
  [member: string]: unknown
}

/** Types of callers are mutable, and this is theirs. */
export interface W3cDocument {
  '@context': string[]
  id: string
  /** The DIDs that control one with a name. */
  controller?: string | string[]
  alsoKnownAs?: string[]
  /** The keys that authenticate, and no others: verifiers take every method they see. */
  verificationMethod: W3cVerificationMethod[]
  /** Absolute ids. */
  authentication: string[]
  assertionMethod: string[]
  /** Keys with which others encrypt to the DID; they stand here alone. */
  keyAgreement?: W3cVerificationMethod[]
  service?: W3cService[]
}

/** Members of a document on the chain, compact or normalised, that have a counterpart in W3C form. */
interface ChainDocument {
  readonly '@context'?: readonly string[]
  readonly id: string
  readonly controller?: string | readonly string[]
  readonly alsoKnownAs?: readonly string[]
  readonly publicKey?: readonly ChainKey[]
  readonly authentication?: readonly (string | ChainKey)[]
  readonly keyAgreement?: readonly { readonly id: string; readonly publicKeyMultibase: string }[]
  readonly service?: readonly W3cService[]
  readonly expires: string
}

interface ChainKey {
  readonly id: string
  readonly controller?: string
  readonly publicKeyBase58: string
}

const core = 'https://www.w3.org/ns/did/v1'
const keyContexts: Readonly<Record<KeyForm, string>> = {
  Multikey: 'https://w3id.org/security/multikey/v1',
  JsonWebKey: 'https://w3id.org/security/jwk/v1',
}
/** The multicodec of a compressed P-256 point, as varint. */
const multicodec = Uint8Array.of(0x80, 0x24)

/**
 * The W3C form of a document, given as the JSON text that a chain accepted, and its expiry, which belongs to the metadata. Keys
 * that authenticate may also make assertions. Other keys, those of delegates among them, the credentials and the proof have no
 * counterpart and are left out, as are endpoints that are texts and no absolute URI. Throws for text that no chain accepts.
 */
export function w3cDocument(
  text: string,
  { keys = 'Multikey' }: { readonly keys?: KeyForm } = {},
): { readonly document: W3cDocument; readonly expires: string } {
  const source = JSON.parse(text) as ChainDocument
  const { id, controller, alsoKnownAs = [], keyAgreement = [], service = [], expires } = source
  const absolute = (reference: string) => (reference.startsWith('#') ? id + reference : reference)
  const methods = authenticationKeys(source, absolute)
  const ids = methods.map((key) => key.id)
  const agreement = keyAgreement.map((key) => agreementMethod({ ...key, id: absolute(key.id) }, id, keys)).sort(byId)
  const services = service
    .flatMap(withUris)
    .map((entry) => ({ ...entry, id: absolute(entry.id) }))
    .sort(byId)
  const document = {
    '@context': [...new Set([core, keyContexts[keys], ...(source['@context'] ?? [])])],
    id,
    ...(controller === undefined
      ? {}
      : { controller: typeof controller === 'string' ? controller : [...controller].sort() }),
    ...(alsoKnownAs.length === 0 ? {} : { alsoKnownAs: [...alsoKnownAs].sort() }),
    verificationMethod: methods.map((key) => methodOf(key, keys)),
    authentication: ids,
    assertionMethod: [...ids],
    ...(agreement.length === 0 ? {} : { keyAgreement: agreement }),
    ...(services.length === 0 ? {} : { service: services }),
  }
  return { document, expires }
}

type OwnKey = Pick<Required<ChainKey>, 'id' | 'controller' | 'publicKeyBase58'>

/** The keys of the DID itself that authenticate, by id. The one that derives the DID does so, listed or not. */
function authenticationKeys(source: ChainDocument, absolute: (reference: string) => string): OwnKey[] {
  const { id, publicKey = [], authentication = [] } = source
  const embedded = authentication.filter((entry) => typeof entry !== 'string')
  const listed = new Set(authentication.map((entry) => absolute(typeof entry === 'string' ? entry : entry.id)))
  const own = [...publicKey, ...embedded]
    .map((key) => ({ id: absolute(key.id), controller: key.controller ?? id, publicKeyBase58: key.publicKeyBase58 }))
    .filter(({ controller }) => controller === id)
  const deriving = own.every((key) => listed.has(key.id)) ? undefined : derivingKey(own, id)
  return own.filter((key) => listed.has(key.id) || key.publicKeyBase58 === deriving).sort(byId)
}

/** The key among `keys` of which the identifier is made, as base58; a key has one such text. */
function derivingKey(keys: readonly OwnKey[], did: string): string | undefined {
  const identifier = did.slice(did.lastIndexOf(':') + 1)
  const hash = bs58.decodeUnsafe(identifier)?.subarray(1, 21)
  const found = keys.find(({ publicKeyBase58 }) => {
    const own = hashOfKey(publicKeyBase58)
    return hash !== undefined && own.every((byte, i) => byte === hash[i])
  })
  // The checksum and the prefix are those of a right identifier.
  return found !== undefined && isKeyIdentifier(identifier) ? found.publicKeyBase58 : undefined
}

function methodOf({ id, controller, publicKeyBase58 }: OwnKey, type: KeyForm): W3cVerificationMethod {
  const point = bs58.decode(publicKeyBase58)
  if (type === 'Multikey') {
    return { id, type, controller, publicKeyMultibase: `z${bs58.encode(joined(multicodec, point))}` }
  }
  const at = coordinatesOf(point)
  if (at === undefined) throw new Error(`the key ${id} is no point of P-256`)
  return { id, type, controller, publicKeyJwk: { kty: 'EC', crv: 'P-256', x: base64url(at.x), y: base64url(at.y) } }
}

/** A key for encryption: the chain has it as a Multikey. */
function agreementMethod(
  { id, publicKeyMultibase }: { readonly id: string; readonly publicKeyMultibase: string },
  controller: string,
  type: KeyForm,
): W3cVerificationMethod {
  if (type === 'Multikey') return { id, type, controller, publicKeyMultibase }
  const bytes = bs58.decode(publicKeyMultibase.slice(1))
  const key = bytes.subarray(multicodec.length)
  if (bytes[0] === multicodec[0]) return methodOf({ id, controller, publicKeyBase58: bs58.encode(key) }, type)
  return { id, type, controller, publicKeyJwk: { kty: 'OKP', crv: 'X25519', x: base64url(key) } }
}

/** A service without the endpoints that are no absolute URI; none where it has no other. */
function withUris(service: W3cService): W3cService[] {
  const { serviceEndpoint: endpoint } = service
  if (!Array.isArray(endpoint)) return typeof endpoint === 'string' && !isUri(endpoint) ? [] : [service]
  const uris = endpoint.filter((one) => typeof one !== 'string' || isUri(one))
  return uris.length === 0 ? [] : [{ ...service, serviceEndpoint: uris }]
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}

/** Whether `text` is an identifier that a key can have: 34 characters of base58, prefix of DIDs, valid checksum. */
export function isKeyIdentifier(text: string): boolean {
  const bytes = text.length === 34 ? bs58.decodeUnsafe(text) : undefined
  if (bytes?.length !== 25 || bytes[0] !== didPrefix) return false
  return checksum(bytes.subarray(0, 21)).every((byte, i) => byte === bytes[21 + i])
}

const didPrefix = 0x67

/** Hash that the identifier made of a key holds: that of its DID script. */
function hashOfKey(publicKeyBase58: string): Uint8Array {
  return ripemd160(sha256(joined(Uint8Array.of(0x21), bs58.decode(publicKeyBase58), Uint8Array.of(0xad))))
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
