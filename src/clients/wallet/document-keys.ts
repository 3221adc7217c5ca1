import { type KeyInput, readPrivateKey, readPublicKey } from '../../base/crypto/key-forms.js'
import { publicKeyOf } from '../../base/crypto/keys.js'
import { UserError } from '../../base/errors/rule-error.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import { requireOptions } from '../../base/primitives/known-members.js'
import type { PlannedKey } from '../../identity/did/build.js'
import { absoluteId, isDid, relativeId } from '../../identity/did/identifier.js'
import type { DidDocument, DidKey } from '../../identity/did/model.js'
import type { KeyPair } from './accounts.js'
import { chainIds } from '../../identity/did/chain-ids.js'

/** Changes of the keys of a document, and the choice of one that signs. */

/** A key to add. */
export interface AddedKey {
  /** The name after the `#`. */
  readonly name: string
  /** A public key in any form. */
  readonly publicKey: KeyInput
  /** Another DID that has the key: it is then listed, and may do nothing. Absent: a key of the DID itself, for authentication. */
  readonly controller?: string
}

/** A key of another DID, which may then deactivate this one. */
export interface AuthorizedKey extends AddedKey {
  readonly controller: string
}

/** Changes of keys by an update; what is removed goes first. */
export interface KeyChanges {
  readonly addKeys?: readonly AddedKey[]
  /** Names of keys of any use but `authorization`; the default key stays. */
  readonly removeKeys?: readonly string[]
  readonly authorize?: readonly AuthorizedKey[]
  /** Names of keys that may not deactivate the DID any more; they leave the document. */
  readonly revokeAuthorizations?: readonly string[]
}

/** The keys of a document after changes of it. A {@link UserError} for a key that is not there, stands there already, or has to stay. */
export function changedKeys(
  document: DidDocument,
  kept: readonly PlannedKey[],
  { addKeys = [], removeKeys = [], authorize = [], revokeAuthorizations = [] }: KeyChanges,
): PlannedKey[] {
  const removed = new Set([
    ...removeKeys.map((name) => removedName(document, kept, name)),
    ...revokeAuthorizations.map((name) => authorizedName(document, kept, name)),
  ])
  const keys = kept.filter(({ fragment }) => !removed.has(fragment))
  for (const key of addKeys) keys.push(newKey(document, keys, key))
  for (const key of authorize) keys.push(newAuthorization(document, keys, key))
  return keys
}

function removedName(document: DidDocument, kept: readonly PlannedKey[], given: string): string {
  const { fragment, use } = keyNamed(document, kept, given)
  if (document.defaultKey !== undefined && nameOf(document.defaultKey, document) === `#${fragment}`) {
    throw new UserError(`#${fragment} is the default key, from which ${document.id} derives; it cannot be removed`)
  }
  if (use !== 'authorization') return fragment
  throw new UserError(`#${fragment} is an authorization; --revoke-authorization (revokeAuthorizations) removes it`)
}

function authorizedName(document: DidDocument, kept: readonly PlannedKey[], given: string): string {
  const { fragment, use } = keyNamed(document, kept, given)
  if (use === 'authorization') return fragment
  throw new UserError(`#${fragment} is no authorization; --remove-key (removeKeys) removes other keys`)
}

function keyNamed({ id }: DidDocument, kept: readonly PlannedKey[], given: string): PlannedKey {
  const name = fragmentOf(given, id)
  const key = kept.find(({ fragment }) => fragment === name)
  if (key !== undefined) return key
  throw new UserError(
    `the document of ${id} has no key #${name}; there are ${kept.map(({ fragment }) => `#${fragment}`).join(', ')}`,
  )
}

function newKey(document: DidDocument, keys: readonly PlannedKey[], added: AddedKey): PlannedKey {
  requireOptions('addKeys', added, ['name', 'publicKey', 'controller'])
  const { fragment, publicKey } = namedKey(document, keys, added)
  const { controller = document.id } = added
  if (controller === document.id) return { fragment, publicKey, use: 'authentication' }
  return { fragment, publicKey, use: 'none', controller: otherDid(controller, fragment) }
}

function newAuthorization(document: DidDocument, keys: readonly PlannedKey[], added: AuthorizedKey): PlannedKey {
  requireOptions('authorize', added, ['name', 'publicKey', 'controller'])
  const { fragment, publicKey } = namedKey(document, keys, added)
  const controller = otherDid(added.controller, fragment)
  if (controller !== document.id) return { fragment, publicKey, use: 'authorization', controller }
  throw new UserError(
    `#${fragment}: only another DID can be authorised; --add-key (addKeys) adds a key of the DID itself`,
  )
}

function namedKey(
  document: DidDocument,
  keys: readonly PlannedKey[],
  added: AddedKey,
): Pick<PlannedKey, 'fragment' | 'publicKey'> {
  const fragment = newFragment(added.name, document.id)
  const publicKey = readPublicKey(added.publicKey, `the key #${fragment}`)
  if (keys.some((key) => key.fragment === fragment)) {
    throw new UserError(`the document has a key #${fragment} already; remove it in the same update to replace it`)
  }
  const same = keys.find((key) => equalBytes(key.publicKey, publicKey))
  if (same === undefined) return { fragment, publicKey }
  throw new UserError(`the key #${fragment} stands in the document already, as #${same.fragment}`)
}

function otherDid(text: string, name: string): string {
  if (typeof text === 'string' && isDid(text, chainIds)) return text
  throw new UserError(`the controller of #${name} is no DID of this chain: ${String(text).slice(0, 200)}`)
}

/** The name of a new key of a DID without its `#`; a {@link UserError} for one that no key can have. */
export function newFragment(name: string, did: string): string {
  const fragment = fragmentOf(name, did)
  if (absoluteId(`#${fragment}`, did, chainIds) !== undefined) return fragment
  throw new UserError(`${fragment.slice(0, 80)} is no name of a key: 1 to 128 letters, digits and . _ - are`)
}

/** A name without its `#`, or the name in an id below a DID as readers of its document see it. */
export function fragmentOf(name: string, did: string): string {
  if (typeof name !== 'string') throw new UserError('a name is needed, a text')
  return relativeId(name, did).replace(/^#/, '')
}

/** Documents that say which keys may sign for a DID, as they are now. */
export interface SigningDocuments {
  /** That of the DID. */
  readonly document: DidDocument
  /** Those of the controllers of a DID with a name; of another DID, or left out: no key but those of the DID may sign. */
  readonly controllers?: readonly DidDocument[] | undefined
}

/** The authentication keys of a DID, then those of its controllers. */
export function authenticationKeys(by: SigningDocuments): DidKey[] {
  const documents = [by.document, ...controlling(by)]
  return documents.flatMap(({ authentication }) => [...authentication.values()])
}

/** The default keys of the controllers of a DID. */
export function controllerKeys(by: SigningDocuments): DidKey[] {
  return controlling(by).flatMap(({ defaultKey }) => defaultKey ?? [])
}

function controlling({ document, controllers = [] }: SigningDocuments): readonly DidDocument[] {
  return controllers.filter(({ id }) => document.controllers.includes(id))
}

/** The key of a document that signs an operation, with its id there. */
export interface SigningKey {
  readonly pair: KeyPair
  /** Absolute. */
  readonly id: string
}

/** The private key that signs, as one of the keys that may; a {@link UserError} if it is none of them. `what`: what it signs. */
export function signingKey(
  signWith: KeyInput,
  document: DidDocument,
  { keys, what }: { readonly keys: Iterable<DidKey>; readonly what: string },
): SigningKey {
  const privateKey = readPrivateKey(signWith, 'the key to sign with')
  const pair = { privateKey, publicKey: publicKeyOf(privateKey) }
  const listed = [...keys]
  const found = listed.find(({ publicKey }) => equalBytes(publicKey, pair.publicKey))
  if (found !== undefined) return { pair, id: found.id }
  const names = listed.map((key) => nameOf(key, document)).join(', ')
  const those = listed.length === 0 ? 'its document has none that may' : `those that may are ${names}`
  throw new UserError(`the key to sign with may not sign ${what} of ${document.id}; ${those}`)
}

function nameOf({ id }: DidKey, document: DidDocument): string {
  return relativeId(id, document.id)
}
