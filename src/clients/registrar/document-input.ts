import { type Jwk, readPublicKey } from '../../base/crypto/key-forms.js'
import { UserError } from '../../base/errors/rule-error.js'
import { operationForms } from '../../base/primitives/did-operation.js'
import { toHex } from '../../base/primitives/bytes.js'
import { canonicalJson } from '../../base/primitives/strict-json.js'
import { agreementKeyIn } from '../../identity/did/agreement-key.js'
import { relativeId } from '../../identity/did/identifier.js'
import type { DidDocument } from '../../identity/did/model.js'
import { addYears, parseDate } from '../../identity/did/date.js'
import { documentText } from '../../identity/did/canonical.js'
import { fromPlain } from '../../identity/did/plain-json.js'
import { w3cDocument } from '../../identity/did/w3c.js'
import { type AddedAgreementKey, readAgreementKey } from '../wallet/core-members.js'
import type { DocumentChanges } from '../wallet/did-identity.js'
import type { AddedKey } from '../wallet/document-keys.js'
import { isObject } from '../../base/primitives/is-object.js'
import type { Registration } from './registration.js'

/** Documents in the form of the W3C as a client of a registrar gives them, whole or in part, as members of documents of the chain. */

/** Members of a document, or of a part of one. Names are fragments without `#`. */
export interface GivenMembers {
  /** Keys that sign for the DID, in the order given. */
  readonly keys: readonly (AddedKey & { readonly publicKey: Uint8Array })[]
  readonly keyAgreement: readonly AddedAgreementKey[]
  readonly services: readonly (Readonly<Record<string, unknown>> & { readonly id: string })[]
  readonly alsoKnownAs: readonly string[]
  /** DIDs that its ids, references and controllers name: all have to be the one that it is about. */
  readonly dids: ReadonlySet<string>
}

type Members = Readonly<Record<string, unknown>>

const known = new Set([
  '@context',
  'id',
  'alsoKnownAs',
  'verificationMethod',
  'authentication',
  'assertionMethod',
  'keyAgreement',
  'service',
])

/**
 * Reads a document in the form of the W3C. A method that is named by `authentication` or `assertionMethod` signs for the DID, one that is named by
 * `keyAgreement` encrypts to it; none does both. A {@link UserError} for members that the chain has no place for.
 */
export function readMembers(value: unknown): GivenMembers {
  const document = membersOf(value, 'didDocument')
  for (const name of Object.keys(document)) {
    if (!known.has(name)) throw new UserError(`didDocument: ${name} is no member that documents of this chain have`)
  }
  const methods = new Map<string, Members>()
  for (const method of listOf(document, 'verificationMethod')) addMethod(methods, method, 'verificationMethod')
  const signing = namesIn(document, ['authentication', 'assertionMethod'], methods)
  const encrypting = namesIn(document, ['keyAgreement'], methods)
  for (const name of methods.keys()) {
    if (signing.has(name) && encrypting.has(name)) {
      throw new UserError(`didDocument: #${name} signs and encrypts, and a key of this chain has one use`)
    }
    if (!signing.has(name) && !encrypting.has(name)) {
      throw new UserError(`didDocument: #${name} stands in none of authentication, assertionMethod and keyAgreement`)
    }
  }
  return {
    keys: [...signing].map((name) => ({ name, publicKey: signingKeyOf(methods, name) })),
    keyAgreement: [...encrypting].map((name) => ({ name, publicKey: agreementKeyOf(methods, name) })),
    services: listOf(document, 'service').map((service) => {
      const members = membersOf(service, 'service')
      return { ...members, id: `#${fragmentIn(members, 'service')}` }
    }),
    alsoKnownAs: listOf(document, 'alsoKnownAs').map((name) => textOf(name, 'alsoKnownAs')),
    dids: didsIn(document),
  }
}

const idLists = ['verificationMethod', 'authentication', 'assertionMethod', 'keyAgreement', 'service']

/** DIDs in the ids, references and controllers of a document, or of a part of one. */
function didsIn(document: Members): ReadonlySet<string> {
  const entries = idLists
    .flatMap((name) => listOf(document, name))
    .map((entry) => (isObject(entry) ? entry : { id: entry }))
  const texts = [document['id'], ...entries.flatMap(({ id, controller }) => [id, controller])]
  return new Set(
    texts
      .filter((text) => typeof text === 'string')
      .map((text) => text.replace(/#.*$/s, ''))
      .filter((did) => did !== ''),
  )
}

/** Refuses members that name another DID: a reference to a key of another one would become one to an own key. */
export function requireOwn({ dids }: Pick<GivenMembers, 'dids'>, did: string): void {
  const other = [...dids].find((one) => one !== did)
  if (other !== undefined) throw new UserError(`didDocument: it names ${other.slice(0, 200)}, and is about ${did}`)
}

/** The changes that make the members of a document those that are given; what the form of the W3C does not show stays. */
export function replacing(before: DidDocument, given: GivenMembers): DocumentChanges {
  requireOwn(given, before.id)
  const own = [...before.authentication.values()].map(({ id, publicKey }) => ({ name: nameOf(id, before), publicKey }))
  const agreement = before.keyAgreement.map(({ id, publicKeyMultibase }) => ({
    name: nameOf(id, before),
    publicKey: publicKeyMultibase,
  }))
  const { service: shown = [] } = w3cDocument(documentText(before)).document
  const services = shown.map(({ id, ...members }) => ({
    name: nameOf(id, before),
    value: canonicalJson(fromPlain(members)),
  }))
  const keys = differences(own, given.keys, ({ publicKey }) => toHex(publicKey))
  const keyAgreement = differences(agreement, given.keyAgreement, ({ publicKey }) => readAgreementKey(publicKey))
  const wanted = given.services.map(({ id, ...members }) => ({
    name: id.slice(1),
    value: canonicalJson(fromPlain(members)),
    service: { ...members, id },
  }))
  const service = differences<{ name: string; value: string }>(services, wanted, ({ value }) => value)
  return changesOf({
    removeKeys: keys.removed,
    addKeys: keys.added,
    removeKeyAgreement: keyAgreement.removed,
    addKeyAgreement: keyAgreement.added,
    removeServices: service.removed,
    addServices: wanted.filter(({ name }) => service.added.some((one) => one.name === name)).map((one) => one.service),
    removeAlsoKnownAs: before.alsoKnownAs.filter((name) => !given.alsoKnownAs.includes(name)),
    addAlsoKnownAs: given.alsoKnownAs.filter((name) => !before.alsoKnownAs.includes(name)),
  })
}

/** The changes that add the members given. */
export function adding(before: DidDocument, given: GivenMembers): DocumentChanges {
  const { keys, keyAgreement, services, alsoKnownAs } = given
  requireOwn(given, before.id)
  return changesOf({ addKeys: keys, addKeyAgreement: keyAgreement, addServices: services, addAlsoKnownAs: alsoKnownAs })
}

/** The changes that remove what a part of a document names: of keys and services their `id` counts alone. */
export function removing(before: DidDocument, value: unknown): DocumentChanges {
  const part = membersOf(value, 'didDocument')
  requireOwn({ dids: didsIn(part) }, before.id)
  const named = (name: string) =>
    listOf(part, name).map((entry) =>
      typeof entry === 'string' ? fragmentOf(entry) : fragmentIn(membersOf(entry, name), name),
    )
  const agreement = new Set(before.keyAgreement.map(({ id }) => nameOf(id, before)))
  const keys = [...new Set(['verificationMethod', 'authentication', 'assertionMethod', 'keyAgreement'].flatMap(named))]
  return changesOf({
    removeKeys: keys.filter((name) => !agreement.has(name)),
    removeKeyAgreement: keys.filter((name) => agreement.has(name)),
    removeServices: named('service'),
    removeAlsoKnownAs: listOf(part, 'alsoKnownAs').map((name) => textOf(name, 'alsoKnownAs')),
  })
}

/** Changes without lists that are empty. */
function changesOf(changes: DocumentChanges): DocumentChanges {
  return Object.fromEntries(Object.entries(changes).filter(([, list]) => (list as readonly unknown[]).length > 0))
}

/** Names that have to go, and values that have to come, so that the first become the second. */
function differences<T extends { readonly name: string }>(
  before: readonly T[],
  after: readonly T[],
  valueOf: (one: T) => string,
): { readonly removed: string[]; readonly added: T[] } {
  const old = new Map(before.map((one) => [one.name, valueOf(one)]))
  const names = new Map(after.map((one) => [one.name, valueOf(one)]))
  return {
    removed: before.filter(({ name }) => names.get(name) !== old.get(name)).map(({ name }) => name),
    added: after.filter(({ name }) => old.get(name) !== names.get(name)),
  }
}

function nameOf(id: string, { id: did }: DidDocument): string {
  return relativeId(id, did).slice(1)
}

/** Names of the methods that some lists refer to, or hold themselves; these are added to the methods. */
function namesIn(document: Members, lists: readonly string[], methods: Map<string, Members>): ReadonlySet<string> {
  const found = new Set<string>()
  for (const list of lists) {
    for (const entry of listOf(document, list)) {
      const name = typeof entry === 'string' ? fragmentOf(entry) : addMethod(methods, entry, list)
      if (!methods.has(name))
        throw new UserError(`didDocument: ${list} names #${name}, which is no verification method`)
      found.add(name)
    }
  }
  return found
}

function addMethod(methods: Map<string, Members>, value: unknown, list: string): string {
  const method = membersOf(value, list)
  const name = fragmentIn(method, list)
  if (methods.has(name)) throw new UserError(`didDocument: #${name} stands twice`)
  methods.set(name, method)
  return name
}

function signingKeyOf(methods: ReadonlyMap<string, Members>, name: string): Uint8Array {
  const material = materialOf(methods, name)
  const multikey = typeof material === 'string' ? agreementKeyIn(material) : undefined
  if (multikey?.curve === 'P-256') return multikey.publicKey
  if (multikey !== undefined) throw new UserError(`didDocument: #${name} is a key of X25519, which signs nothing`)
  return readPublicKey(material, `didDocument: #${name}`)
}

function agreementKeyOf(methods: ReadonlyMap<string, Members>, name: string): string {
  return readAgreementKey(materialOf(methods, name), `didDocument: #${name}`)
}

const methodMembers = ['id', 'type', 'controller', 'purpose', 'publicKeyMultibase', 'publicKeyJwk', 'publicKeyBase58']

/** The key of a method, in the form in which it stands there. */
function materialOf(methods: ReadonlyMap<string, Members>, name: string): string | Jwk {
  const method = methods.get(name) ?? {}
  const other = Object.keys(method).find((member) => !methodMembers.includes(member))
  if (other !== undefined)
    throw new UserError(`didDocument: #${name} has ${other.slice(0, 64)}, which no public key has`)
  const { publicKeyMultibase, publicKeyJwk, publicKeyBase58 } = method
  for (const text of [publicKeyMultibase, publicKeyBase58]) if (typeof text === 'string') return text
  if (typeof publicKeyJwk === 'object' && publicKeyJwk !== null) return publicKeyJwk as Jwk
  throw new UserError(`didDocument: #${name} has no publicKeyMultibase, publicKeyJwk or publicKeyBase58`)
}

function membersOf(value: unknown, where: string): Members {
  if (isObject(value)) return value
  throw new UserError(`${where} is no object`)
}

function listOf(members: Members, name: string): readonly unknown[] {
  const value = members[name]
  if (value === undefined) return []
  if (Array.isArray(value)) return value as readonly unknown[]
  throw new UserError(`didDocument: ${name} is no list`)
}

function textOf(value: unknown, where: string): string {
  if (typeof value === 'string') return value
  throw new UserError(`didDocument: ${where} holds what is no text`)
}

function fragmentIn(members: Members, where: string): string {
  return fragmentOf(textOf(members['id'], `an id in ${where}`))
}

/** The name after the `#` of an id, whose DID the client may not know yet. */
function fragmentOf(id: string): string {
  const at = id.indexOf('#')
  if (at >= 0 && at < id.length - 1) return id.slice(at + 1)
  throw new UserError(`didDocument: ${id.slice(0, 200)} has no name after a #`)
}

/** The first key given that a DID derives from, or the first of all where none is named. */
export function defaultKeyOf(
  { keys }: GivenMembers,
  derives: ((publicKey: Uint8Array) => boolean) | undefined,
): GivenMembers['keys'][number] {
  const found = derives === undefined ? keys[0] : keys.find(({ publicKey }) => derives(publicKey))
  if (found !== undefined) return found
  throw new UserError(
    derives === undefined
      ? 'didDocument: authentication names no key: the DID is made of one'
      : 'did: none of the keys in didDocument is the one that it is made of',
  )
}

export interface RegistrationOptions {
  /** `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly expires?: string
  /** Name of the key that signs a deactivate. */
  readonly key?: string
}

/** Options of DID Registration for registrars that hold keys. */
const keeping = ['storeSecrets', 'returnSecrets']

/** Options of a registration, at a time in Unix seconds; a {@link UserError} for those that it does not have, or that ask for what is no use. */
export function readOptions(kind: Registration, value: unknown, now: number): RegistrationOptions {
  const options = membersOf(value ?? {}, 'options')
  const own = operationForms[kind].payload === 'document' ? 'expires' : 'key'
  for (const name of Object.keys(options)) {
    if (!['clientSecretMode', 'network', own, ...keeping].includes(name)) {
      throw new UserError(`options: ${name.slice(0, 64)} is none that a ${kind} of this registrar has`)
    }
  }
  if ((options['clientSecretMode'] ?? true) !== true) {
    throw new UserError('options: this registrar never holds keys, so clientSecretMode is true')
  }
  const kept = keeping.find((name) => (options[name] ?? false) !== false)
  if (kept !== undefined) throw new UserError(`options: this registrar never holds keys, so ${kept} is false`)
  const text = options[own] === undefined ? undefined : textOf(options[own], `options.${own}`)
  if (text === undefined) return {}
  if (own === 'key') return { key: text }
  const time = parseDate(text)
  if (time === undefined || time <= now || time > addYears(now, mostYears)) {
    throw new UserError(
      `options.expires is no time of the next ${mostYears} years as YYYY-MM-DDTHH:MM:SSZ: ${text.slice(0, 64)}`,
    )
  }
  return { expires: text }
}

/** @tuning number: years until a new document expires, and at most */
export const mostYears = 5
