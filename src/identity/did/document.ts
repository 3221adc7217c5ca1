import { RuleError } from '../../base/errors/rule-error.js'
import { mapKey, utf8 } from '../../base/primitives/bytes.js'
import { hasName } from '../../base/primitives/did-name.js'
import { defined } from '../../base/primitives/defined.js'
import { finish, mapSteps, type Steps } from '../../base/primitives/steps.js'
import { type JsonLimits, type JsonObject, type JsonValue, parseStrictJson } from '../../base/primitives/strict-json.js'
import { parseAgreementKey } from './agreement-key.js'
import { documentSigningText } from './canonical.js'
import { parseCredential } from './credential.js'
import { parseDate } from './date.js'
import { parseEndpoint, parseNames } from './endpoint.js'
import { type Control, controlMembers, neededControllers, parseChainControl } from './control.js'
import { absoluteId, didPart, type IdRules } from './identifier.js'
import { findDefaultKey, parseKey } from './key.js'
import {
  asObject,
  didText,
  list,
  optionalDate,
  optionalText,
  ownId,
  path,
  refuseUnknown,
  requiredDate,
  requiredText,
  requireSignatureType,
  signatureMember,
  textList,
  typeText,
} from './member-readers.js'
import type { DidDocument, DidKey, DocumentProof, Service } from './model.js'

/** Limits of the JSON of a document. */
export const documentJsonLimits: JsonLimits = {
  /** @limit levels: nesting of a document's JSON */
  depth: 16,
  /** @limit count: tokens of a document's JSON */
  tokens: 20_000,
}

/** Rules for documents of a chain, and for those of other tools that library-document.ts reads. */
export interface DocumentRules extends IdRules {
  /** Refuses a document with more keys, services and credentials than a chain takes; runs before any expensive work on one of them. */
  readonly limitEntries?: (document: JsonObject) => void
  /** Accepted before: skips the expensive check that keys are points. */
  readonly trusted?: boolean
  /** Accepts samples older than the present rules: identifiers with trailer 0xAC, `authorization` of DIDs without key. */
  readonly legacy?: boolean
  /** Refuses what a chain takes from the height of an upgrade on: first-form.ts. */
  readonly refuseLater?: (document: JsonObject, services: readonly Service[]) => void
}

/** Rules of a chain. */
export type ChainRules = DocumentRules & { readonly chain: true }

/** Differences between documents of a chain and those of other tools. */
export interface DocumentForm {
  refuseMembers(object: JsonObject): void
  /** Who controls the DID; of none: its default key alone. */
  control(object: JsonObject, rules: DocumentRules): Control
  proofs(
    member: JsonValue | undefined,
    read: (value: JsonValue, where: string) => DocumentProof,
    control: Control,
  ): readonly DocumentProof[]
}

/** On a chain a document has one proof, by its default key, or as many as needed by different controllers. */
const chainForm: DocumentForm = {
  refuseMembers: (object) => refuseUnknown(object, controlledMembers, ''),
  control: parseChainControl,
  proofs(member, read, control) {
    if (member === undefined) throw new RuleError('document-proof-missing', 'the document carries no proof')
    if (control.controllers.length === 0) return [read(member, 'proof')]
    const entries = Array.isArray(member) ? member : [member]
    const needed = neededControllers(control)
    if (entries.length !== needed) {
      throw new RuleError('document-proof-creator', `the document has ${entries.length} proofs, and needs ${needed}`)
    }
    const proofs = entries.map((entry, index) => read(entry, Array.isArray(member) ? `proof[${index}]` : 'proof'))
    requireControllers(
      proofs.map(({ creator }) => creator),
      control,
    )
    return sortProofs(proofs)
  },
}

export const chainMembers: ReadonlySet<string> = new Set([
  '@context',
  'id',
  'alsoKnownAs',
  'publicKey',
  'authentication',
  'authorization',
  'keyAgreement',
  'verifiableCredential',
  'service',
  'expires',
  'proof',
])
const controlledMembers: ReadonlySet<string> = new Set([...chainMembers, ...controlMembers])
const proofMembers: ReadonlySet<string> = new Set(['type', 'created', 'creator', 'signatureValue'])
const serviceMembers = ['id', 'type', 'serviceEndpoint']

/** Reads the UTF-8 JSON of a document; see {@link parseDocument}. */
export function parseDocumentBytes(bytes: Uint8Array, rules: ChainRules): DidDocument {
  return finish(documentBytesSteps(bytes, rules))
}

/** {@link parseDocumentBytes} in steps. */
export function* documentBytesSteps(bytes: Uint8Array, rules: ChainRules): Steps<DidDocument> {
  const text = utf8(bytes)
  if (text === undefined) throw new RuleError('json-utf8', 'the document is not valid UTF-8')
  const value = parseStrictJson(text, documentJsonLimits)
  yield
  return yield* documentSteps(value, rules)
}

/**
 * Reads a document in compact or normalised form into its normalised form. Throws a {@link RuleError} that names the faulty
 * member; verifies no signature and reads no clock. Strings are kept as they are.
 */
export function parseDocument(value: JsonValue, rules: ChainRules): DidDocument {
  return finish(documentSteps(value, rules))
}

/** {@link parseDocument} in steps: one for each key, service and credential. */
export function* documentSteps(
  value: JsonValue,
  rules: DocumentRules,
  form: DocumentForm = chainForm,
): Steps<DidDocument> {
  const object = asObject(value, '')
  form.refuseMembers(object)
  const id = didText(requiredText(object, 'id', ''), 'id', rules)
  rules.limitEntries?.(object)
  const expires = requiredDate(object, 'expires', '')
  const control = form.control(object, rules)
  const { controllers, multisig, text } = control
  if (rules.chain) requireControl(id, control)
  const { keys, defaultKey, authentication, authorization } = yield* keySteps(object, id, rules)
  const keyAgreement = yield* mapSteps(list(object, 'keyAgreement', ''), (entry, index) =>
    parseAgreementKey(entry, `keyAgreement[${index}]`, rules, id, rules.trusted === true),
  )
  const services = yield* mapSteps(list(object, 'service', ''), (entry, index) =>
    parseService(entry, `service[${index}]`, rules, id),
  )
  const credentials = yield* mapSteps(list(object, 'verifiableCredential', ''), (entry, index) =>
    parseCredential(entry, `verifiableCredential[${index}]`, rules, id),
  )
  refuseRepeatedIds([...keys, ...keyAgreement, ...services, ...credentials])
  if (rules.chain && keyAgreement.length > 0) refuseRepeatedBytes([...keys, ...keyAgreement])
  const unsigned = {
    context: textList(object, '@context', ''),
    id,
    controllers,
    ...defined({ multisig }),
    alsoKnownAs: parseNames(textList(object, 'alsoKnownAs', '')),
    keys: sortById(keys),
    authentication: sortKeys(authentication),
    authorization: sortKeys(authorization),
    keyAgreement: sortById(keyAgreement),
    credentials: sortById(credentials),
    services: sortById(services),
    expires,
    expiresAt: parseDate(expires) as number,
    ...defined({ defaultKey }),
  }
  // After everything else: a document that no height takes is told so.
  rules.refuseLater?.(object, services)
  const readProof = (proof: JsonValue, where: string) => parseProof(proof, where, rules, id, defaultKey)
  return {
    ...unsigned,
    proofs: form.proofs(object.get('proof'), readProof, control),
    signingText: documentSigningText(unsigned, text),
  }
}

/** A name has controllers; an identifier of a key has none, and cannot be taken before that key is used. */
function requireControl(id: string, { controllers }: Control): void {
  const isNamed = hasName(id)
  if (isNamed === controllers.length > 0) return
  const what = isNamed ? 'has a name, and needs a controller' : 'is that of a key, which alone controls it'
  throw new RuleError('document-controller', `${id} ${what}`)
}

/** Refuses signers of a document that are not all different controllers. */
function requireControllers(keys: readonly string[], { controllers }: Control): void {
  const signers = keys.map(didPart)
  const other = signers.find((did) => !controllers.includes(did))
  if (other !== undefined) throw new RuleError('document-proof-creator', `${other} signs, and is no controller`)
  if (new Set(signers).size < signers.length) {
    throw new RuleError('document-proof-creator', 'a controller signs twice')
  }
}

/** Proofs in the order of their times and keys; signatures are over none of it. */
export function sortProofs(proofs: readonly DocumentProof[]): readonly DocumentProof[] {
  return [...proofs].sort((a, b) => byText(a.created ?? '', b.created ?? '') || byText(a.creator, b.creator))
}

/** One of the two lists that hold references and keys. */
class KeyList {
  readonly #name: 'authentication' | 'authorization'
  readonly #entries: readonly JsonValue[]

  constructor(object: JsonObject, name: 'authentication' | 'authorization') {
    this.#name = name
    this.#entries = list(object, name, '')
  }

  where(index: number): string {
    return `${this.#name}[${index}]`
  }

  /** The keys embedded in the list. */
  *embedded(did: string, rules: DocumentRules): Steps<DidKey[]> {
    const keys: DidKey[] = []
    for (const [index, entry] of this.#entries.entries()) {
      if (!(entry instanceof Map)) continue
      keys.push(parseKey(entry, this.where(index), rules, did, rules.trusted === true))
      yield
    }
    return keys
  }

  /** Resolves the references of the list, once every key is known. */
  resolve(keys: ReadonlyMap<string, DidKey>, did: string, rules: DocumentRules): Map<string, DidKey> {
    const resolved = new Map<string, DidKey>()
    this.#entries.forEach((entry, index) => {
      const where = this.where(index)
      const reference = entry instanceof Map ? requiredText(entry, 'id', where) : entry
      if (typeof reference !== 'string') throw new RuleError('document-form', `${where} is no reference and no key`)
      if (rules.legacy && !reference.includes('#')) return
      const id = absoluteId(reference, did, rules)
      const key = id === undefined ? undefined : keys.get(id)
      if (key === undefined) {
        throw new RuleError('document-reference', `${where} names no key of the document: ${reference.slice(0, 200)}`)
      }
      if ((key.controller === did) !== (this.#name === 'authentication')) {
        const needed = this.#name === 'authentication' ? did : 'another DID'
        throw new RuleError('document-reference', `${where} names a key whose controller is not ${needed}`)
      }
      if (resolved.has(key.id)) throw new RuleError('document-reference', `${where} names ${key.id} again`)
      resolved.set(key.id, key)
    })
    return resolved
  }
}

/** The keys of a document and their uses. */
export interface DocumentKeys {
  readonly keys: readonly DidKey[]
  readonly defaultKey: DidKey | undefined
  readonly authentication: Map<string, DidKey>
  readonly authorization: Map<string, DidKey>
}

/** Reads only the keys of the document of `id`: its members `publicKey`, `authentication` and `authorization`. */
export function* keySteps(object: JsonObject, id: string, rules: DocumentRules): Steps<DocumentKeys> {
  const lists = {
    authentication: new KeyList(object, 'authentication'),
    authorization: new KeyList(object, 'authorization'),
  }
  const keys = yield* keysOf(object, Object.values(lists), id, rules)
  const byId = new Map(keys.map((key) => [key.id, key]))
  const defaultKey = findDefaultKey(keys, id, rules.legacy === true)
  const isNamed = hasName(id)
  if (rules.chain && isNamed && object.has('authorization')) {
    throw new RuleError('document-controller', `${id} has a name: its controllers end it, and nobody by authorization`)
  }
  if (defaultKey === undefined && rules.chain && !isNamed) {
    throw new RuleError('document-default-key', `no key with controller ${id} derives that DID`)
  }
  yield
  const authentication = lists.authentication.resolve(byId, id, rules)
  if (defaultKey !== undefined) authentication.set(defaultKey.id, defaultKey)
  const authorization = lists.authorization.resolve(byId, id, rules)
  return { keys, defaultKey, authentication, authorization }
}

function* keysOf(object: JsonObject, lists: readonly KeyList[], did: string, rules: DocumentRules): Steps<DidKey[]> {
  const listed = yield* mapSteps(list(object, 'publicKey', ''), (entry, index) =>
    parseKey(entry, `publicKey[${index}]`, rules, did, rules.trusted === true),
  )
  const keys = [...listed]
  for (const entries of lists) keys.push(...(yield* entries.embedded(did, rules)))
  // Before references are resolved by id.
  refuseRepeatedIds(keys)
  if (rules.chain) refuseRepeatedBytes(keys)
  return keys
}

function parseService(value: JsonValue, where: string, rules: DocumentRules, did: string): Service {
  const object = asObject(value, where)
  const properties = new Map(object)
  serviceMembers.forEach((name) => properties.delete(name))
  return {
    id: ownId(object, where, rules, did),
    type: typeText(requiredText(object, 'type', where), path(where, 'type')),
    serviceEndpoint: parseEndpoint(object, where),
    properties,
  }
}

function refuseRepeatedIds(entries: readonly { readonly id: string }[]): void {
  const seen = new Set<string>()
  for (const { id } of entries) {
    if (seen.has(id)) throw new RuleError('document-duplicate-id', `the id ${id} stands twice`)
    seen.add(id)
  }
}

/** A key has one use: what encrypts signs nothing. */
function refuseRepeatedBytes(keys: readonly { readonly publicKey: Uint8Array }[]): void {
  if (new Set(keys.map(({ publicKey }) => mapKey(publicKey))).size === keys.length) return
  throw new RuleError('document-duplicate-key', 'two keys of the document have the same bytes')
}

export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function sortById<T extends { readonly id: string }>(entries: readonly T[]): readonly T[] {
  return [...entries].sort((a, b) => byText(a.id, b.id))
}

function sortKeys(keys: ReadonlyMap<string, DidKey>): ReadonlyMap<string, DidKey> {
  return new Map([...keys].sort(([a], [b]) => byText(a, b)))
}

function parseProof(
  value: JsonValue,
  where: string,
  rules: DocumentRules,
  did: string,
  defaultKey: DidKey | undefined,
): DocumentProof {
  const object = asObject(value, where)
  refuseUnknown(object, proofMembers, where)
  requireSignatureType(object, where)
  const reference = optionalText(object, 'creator', where) ?? defaultKey?.id
  const creator = reference === undefined ? undefined : absoluteId(reference, did, rules)
  const isOther = rules.chain && defaultKey !== undefined && creator !== defaultKey.id
  if (creator === undefined || isOther) {
    const expected = defaultKey === undefined ? 'missing or no key id' : `not the default key ${defaultKey.id}`
    throw new RuleError('document-proof-creator', `${path(where, 'creator')} is ${expected}`)
  }
  const created = optionalDate(object, 'created', where)
  return { ...defined({ created }), creator, ...signatureMember(object, 'signatureValue', where) }
}
