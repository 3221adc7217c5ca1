import { InvariantError, RuleError } from '../../base/errors/rule-error.js'
import { mapKey, ownText, utf8 } from '../../base/primitives/bytes.js'
import { sha256 } from '../../base/primitives/hash.js'
import { finish } from '../../base/primitives/steps.js'
import { type JsonObject, type JsonValue } from '../../base/primitives/strict-json.js'
import { controlMembers, neededControllers, parseChainControl } from './control.js'
import { decodeBase64url } from './base64url.js'
import { parseDate } from './date.js'
import { keySteps, parseDocumentBytes } from './document.js'
import type { Credential, DidDocument, DidKey } from './model.js'

/** Absolute key id → 33 bytes, as {@link mapKey} writes them. */
export type KnownKeys = ReadonlyMap<string, string>

/** The public key of 33 bytes that a document lists under an absolute id. */
export function keyOf(keys: KnownKeys, id: string): Uint8Array | undefined {
  const key = keys.get(id)
  return key === undefined ? undefined : Buffer.from(key, 'latin1')
}

/** Who controls a DID with a name. */
export interface KnownControl {
  /** Sorted. */
  readonly controllers: readonly string[]
  /** How many of them have to sign. */
  readonly needed: number
}

/** The part of a document on the chain that the state machine reads. Small, because it is kept for long. */
export interface KnownDocument {
  readonly id: string
  /** Unix seconds. */
  readonly expiresAt: number
  readonly authentication: KnownKeys
  readonly authorization: KnownKeys
  /** The controllers of a DID with a name; undefined for that of a key. Never left out, so that none is lost on the way. */
  readonly control: KnownControl | undefined
  /** {@link credentialDigest} of each credential. */
  readonly credentials: ReadonlySet<string>
}

/** Digest of a credential, equal for credentials of identical text. */
export function credentialDigest({ text }: Pick<Credential, 'text'>): string {
  return mapKey(sha256(text))
}

/** The part of a document that later operations read. */
export function knownDocument(document: DidDocument): KnownDocument {
  return {
    // A part of a text keeps all of it in memory.
    id: ownText(document.id),
    expiresAt: document.expiresAt,
    authentication: knownKeys(document.authentication),
    authorization: knownKeys(document.authorization),
    control: knownControl(document),
    credentials: new Set(document.credentials.map(credentialDigest)),
  }
}

/** The keys of {@link KnownDocument}, and until when they count for those who sign in the name of another DID. */
export type StoredKeys = Pick<KnownDocument, 'id' | 'expiresAt' | 'authentication' | 'authorization' | 'control'>

const keyMembers = ['publicKey', 'authentication', 'authorization', ...controlMembers]

/**
 * Keys of the document in the payload of a create or update that the chain accepted before. Reads nothing else of it. Throws an
 * {@link InvariantError} for a payload that cannot have been accepted.
 */
export function keysOfPayload(payload: string, method: string): StoredKeys {
  return accepted(() => {
    // Accepted text is strict JSON: this reads the same values several times as fast.
    const members: unknown = JSON.parse(payloadJson(payload))
    if (!hasId(members)) throw new InvariantError('a stored document has no id')
    const { id } = members
    const object: JsonObject = new Map()
    for (const name of keyMembers) if (Object.hasOwn(members, name)) object.set(name, jsonValue(members[name]))
    const rules = { method, chain: true, trusted: true, names: true }
    const { authentication, authorization } = finish(keySteps(object, id, rules))
    const keys = { authentication: knownKeys(authentication), authorization: knownKeys(authorization) }
    return {
      id: ownText(id),
      expiresAt: timeOf(members),
      ...keys,
      control: knownControl(parseChainControl(object, rules)),
    }
  })
}

/** The credentials of {@link KnownDocument}, from such a payload. */
export function credentialsOfPayload(payload: string, method: string): ReadonlySet<string> {
  return new Set(documentOfPayload(payload, method).credentials.map(credentialDigest))
}

/**
 * The document in the payload of a create or update that the chain accepted before. For storage, undo and the resolver: skips the
 * expensive check of key points. Throws an {@link InvariantError} for a payload that cannot have been accepted.
 */
export function documentOfPayload(payload: string, method: string): DidDocument {
  return accepted(() => parseDocumentBytes(payloadBytes(payload), { method, chain: true, trusted: true, names: true }))
}

function hasId(value: unknown): value is { readonly id: string } & Record<string, unknown> {
  return typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string'
}

function timeOf({ expires }: Record<string, unknown>): number {
  const time = typeof expires === 'string' ? parseDate(expires) : undefined
  if (time === undefined) throw new InvariantError('a stored document does not say when it expires')
  return time
}

function payloadBytes(payload: string): Uint8Array {
  const bytes = decodeBase64url(payload)
  if (bytes === undefined) throw new InvariantError('a stored payload is not base64url')
  return bytes
}

function payloadJson(payload: string): string {
  const text = utf8(payloadBytes(payload))
  if (text === undefined) throw new InvariantError('a stored payload is not UTF-8')
  return text
}

function accepted<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof SyntaxError) throw new InvariantError('a stored document is no JSON')
    if (!(error instanceof RuleError)) throw error
    throw new InvariantError(`a stored document is not valid (${error.code}): ${error.message}`)
  }
}

/** The controllers of a document, as they are kept; none for the DID of a key. */
export function knownControl(document: Pick<DidDocument, 'controllers' | 'multisig'>): KnownControl | undefined {
  if (document.controllers.length === 0) return undefined
  return { controllers: document.controllers.map(ownText), needed: neededControllers(document) }
}

/** Copies the texts: slices would keep the whole text of the document in memory. */
function knownKeys(keys: ReadonlyMap<string, DidKey>): KnownKeys {
  return new Map([...keys].map(([id, { publicKey }]) => [ownText(id), mapKey(publicKey)]))
}

/** Converts a result of JSON.parse, with Maps for objects. */
function jsonValue(value: unknown): JsonValue {
  if (Array.isArray(value)) return value.map(jsonValue)
  if (typeof value === 'object' && value !== null) {
    return new Map(Object.entries(value).map(([name, member]) => [name, jsonValue(member)]))
  }
  if (value === null || typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string') {
    return value
  }
  throw new InvariantError('a stored document is no JSON')
}
