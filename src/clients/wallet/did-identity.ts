import { type KeyInput, readPublicKey } from '../../base/crypto/key-forms.js'
import { sign } from '../../base/crypto/keys.js'
import { encodeBase64url, decodeBase64url } from '../../identity/did/base64url.js'
import {
  buildCreate,
  buildDeactivate,
  buildDocument,
  buildUpdate,
  type DocumentPlan,
  planNew,
  planOf,
} from '../../identity/did/build.js'
import { parseDocumentBytes } from '../../identity/did/document.js'
import { identifierFault } from '../../identity/did/identifier-fault.js'
import { relativeId } from '../../identity/did/identifier.js'
import type { DidDocument, DidKey } from '../../identity/did/model.js'
import { namedCredential, namedDid } from '../../identity/did/named-did.js'
import { signedText } from '../../identity/did/operation.js'
import { brokenPageRule } from '../../base/errors/broken-rule.js'
import { RuleError, UserError } from '../../base/errors/rule-error.js'
import type { ProgramHash } from '../../base/primitives/address.js'
import { equalBytes, fromUtf8 } from '../../base/primitives/bytes.js'
import { defined } from '../../base/primitives/defined.js'
import { type DidOperation, operationForm } from '../../base/primitives/did-operation.js'
import { keyOfIdentifier } from '../../base/primitives/did-key.js'
import { isDidName } from '../../base/primitives/did-name.js'
import { didMethod } from '../../base/primitives/did-method.js'
import { requireOptions } from '../../base/primitives/known-members.js'
import type { KeyPair, SigningAccount } from './accounts.js'
import {
  type AddedAgreementKey,
  changedMembers,
  type CoreChanges,
  plannedAgreement,
  requireServices,
} from './core-members.js'
import {
  changedKeys,
  controllerKeys,
  fragmentOf,
  type KeyChanges,
  type SigningKey,
  signingKey,
} from './document-keys.js'
import { chainIds } from '../../identity/did/chain-ids.js'

/** Input of every operation of a wallet. */
export interface OperationContext {
  readonly account: SigningAccount
  /** The specification string of the chain. */
  readonly specification: string
  /** Time of the proof, `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly created: string
  /** Private key of the DID, in any form, that signs instead of the account's. The proof of a document stays that of the default key. */
  readonly signWith?: KeyInput
  /** Documents of the controllers of a DID with a name, as they are now. */
  readonly controllers?: readonly DidDocument[]
}

/** Members of {@link OperationContext}. */
export const contextMembers = ['account', 'specification', 'created', 'signWith', 'controllers'] as const

/** The recovery key of a new DID. With a controller it is a key of another DID, which may then deactivate this one. */
export interface RecoveryKey {
  /** In any form. */
  readonly publicKey: KeyInput
  readonly controller?: string
}

/** The state that an operation on an existing DID follows. */
export interface CurrentIdentity {
  readonly document: DidDocument
  /** Display hex of the last operation. */
  readonly txid: string
}

/** Changes of a document by an update. */
export interface DocumentChanges extends KeyChanges, CoreChanges {
  readonly addServices?: readonly unknown[]
  /** Names, or ids as the document has them. */
  readonly removeServices?: readonly string[]
  /** Signed credentials: JSON texts. */
  readonly addCredentials?: readonly string[]
  readonly removeCredentials?: readonly string[]
  readonly expires?: string
}

/** Members of {@link DocumentChanges}. */
export const changeMembers = [
  'addServices',
  'removeServices',
  'addCredentials',
  'removeCredentials',
  'addKeys',
  'removeKeys',
  'authorize',
  'revokeAuthorizations',
  'addKeyAgreement',
  'removeKeyAgreement',
  'addAlsoKnownAs',
  'removeAlsoKnownAs',
  'expires',
] as const satisfies readonly (keyof DocumentChanges)[]

/** The document of a new DID, beside its default key. */
export interface NewIdentity {
  readonly recovery?: RecoveryKey
  readonly services: readonly unknown[]
  /** Keys with which others encrypt to the DID. */
  readonly keyAgreement?: readonly AddedAgreementKey[]
  /** Absolute URIs. */
  readonly alsoKnownAs?: readonly string[]
  /** `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly expires: string
}

/** The create operation of an account's DID: document and operation are signed by its default key `#primary`. */
export function createIdentity(
  context: Omit<OperationContext, 'signWith' | 'controllers'>,
  options: NewIdentity,
): DidOperation {
  requireOptions('the context of createIdentity', context, ['account', 'specification', 'created'])
  requireOptions('createIdentity', options, ['recovery', 'services', 'keyAgreement', 'alsoKnownAs', 'expires'])
  const { account, specification, created } = context
  const { recovery, services, keyAgreement = [], alsoKnownAs = [], expires } = options
  requireServices(services)
  if (recovery !== undefined) requireOptions('recovery', recovery, ['publicKey', 'controller'])
  const plan = planNew({
    method: didMethod,
    primary: account.publicKey,
    ...(recovery && { recovery: { ...recovery, publicKey: readPublicKey(recovery.publicKey, 'the recovery key') } }),
    expires,
    created,
  })
  const members = { services, alsoKnownAs, keyAgreement: plannedAgreement(keyAgreement, plan.did) }
  const document = buildDocument({ ...plan, ...members }, signer(account))
  return buildCreate(document, { specification, verificationMethod: defaultKeyId(document) }, signer(account))
}

/**
 * The update operation that applies `changes` to the current document of the account's DID. `signWith` signs the operation alone: a chain
 * takes a document only with the proof of its default key, which is the account's.
 */
export function updateIdentity(
  context: OperationContext,
  current: CurrentIdentity,
  changes: DocumentChanges,
): DidOperation {
  requireOptions('the context of updateIdentity', context, contextMembers)
  requireOptions('updateIdentity', changes, changeMembers)
  const { account, specification, created, signWith } = context
  const { document: before, txid: previousTxid } = current
  requireDefaultKey(account, before)
  const document = buildDocument(changedPlan(before, changes, created), signer(account))
  const { pair, id } = updateKey(account, before, signWith)
  const verificationMethod = relativeId(id, before.id)
  return buildUpdate(document, { specification, verificationMethod, previousTxid }, signer(pair))
}

/** The plan of a document after changes of it. */
export function changedPlan(before: DidDocument, changes: DocumentChanges, created: string): DocumentPlan {
  const { addServices = [], removeServices = [], addCredentials = [], removeCredentials = [], expires } = changes
  const services = without(before.services, removeServices, before.id, 'service')
  const credentials = without(before.credentials, removeCredentials, before.id, 'credential')
  const kept = planOf({ ...before, services, credentials }, didMethod, created)
  requireServices(addServices, 'addServices')
  return {
    ...kept,
    keys: changedKeys(before, kept.keys, changes),
    ...changedMembers(before, changes),
    services: [...(kept.services ?? []), ...addServices],
    credentials: [...(kept.credentials ?? []), ...addCredentials],
    ...defined({ expires }),
  }
}

/** The key that signs an update of a document: one of its authentication keys, else its default key. */
function updateKey(account: SigningAccount, document: DidDocument, signWith: KeyInput | undefined): SigningKey {
  if (signWith === undefined) {
    requireDefaultKey(account, document)
    return { pair: account, id: defaultKeyOf(document).id }
  }
  return signingKey(signWith, document, { keys: document.authentication.values(), what: 'an update' })
}

function requireDefaultKey({ publicKey }: SigningAccount, document: DidDocument): void {
  const key = defaultKeyOf(document)
  if (equalBytes(key.publicKey, publicKey)) return
  throw new UserError(
    `the document of ${document.id} needs the proof of its default key ${relativeId(key.id, document.id)}, which is not that of this account`,
  )
}

/**
 * A prepared update, signed again to follow the current last operation; its document stays unchanged. `signWith`, an authentication key of
 * the current document, needs no default key: the prepared document has its proof.
 */
export function rebaseUpdate(
  account: SigningAccount,
  current: CurrentIdentity,
  prepared: DidOperation,
  signWith?: KeyInput,
): DidOperation {
  if (!operationForm(prepared)?.previousTxid) {
    throw new UserError(`only an update can be rebased; this operation is "${prepared.operation}"`)
  }
  if (didOfOperation(prepared) !== current.document.id) {
    throw new UserError(`the prepared update is not one of ${current.document.id}`)
  }
  const { pair, id } = updateKey(account, current.document, signWith)
  const rebased = {
    ...prepared,
    previousTxid: current.txid,
    verificationMethod: relativeId(id, current.document.id),
  }
  return { ...rebased, signature: encodeBase64url(signer(pair)(signedText(rebased))) }
}

/**
 * The deactivate operation of a DID, signed by `signWith`, else by the account's recovery key if the document lists it, else by the
 * account's key: as a key of the DID itself, or as one that its document authorises; of a DID with a name as the default key of a
 * controller. A {@link UserError} if it is none of them.
 */
export function deactivateIdentity(
  context: Omit<OperationContext, 'created'> & { readonly created?: string },
  document: DidDocument,
): DidOperation {
  requireOptions('the context of deactivateIdentity', context, contextMembers)
  const { account, specification, signWith, controllers } = context
  const listed =
    document.controllers.length > 0
      ? controllerKeys({ document, controllers })
      : [...document.authentication.values(), ...document.authorization.values()]
  const { pair, id } =
    signWith === undefined
      ? accountKey(account, listed, document)
      : signingKey(signWith, document, { keys: listed, what: 'a deactivation' })
  return buildDeactivate(document.id, { specification, verificationMethod: relativeId(id, document.id) }, signer(pair))
}

function accountKey(account: SigningAccount, listed: readonly DidKey[], document: DidDocument): SigningKey {
  const find = (pair: KeyPair): SigningKey | undefined => {
    const key = listed.find(({ publicKey }) => equalBytes(publicKey, pair.publicKey))
    return key && { pair, id: key.id }
  }
  const found = (account.recovery && find(account.recovery)) ?? find(account)
  if (found !== undefined) return found
  const isNamed = document.controllers.length > 0
  const why = isNamed ? 'none is the default key of a controller' : 'its document lists none of them'
  throw new UserError(`no key of this account may deactivate ${document.id}: ${why}`)
}

/** Reads the document in the payload of a create or update that a node reported. */
export function documentOf(payload: string): DidDocument {
  const bytes = decodeBase64url(payload)
  try {
    if (bytes === undefined) throw brokenPageRule('did-payload-encoding')
    return parseDocumentBytes(bytes, chainIds)
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    throw new UserError(`the node reported a document that no chain accepts (${error.code}): ${error.message}`)
  }
}

/** The DID that an operation changes, or that declares or revokes; checksum checked. Undefined if it names none. */
export function didOfOperation(operation: DidOperation): string | undefined {
  return parseDid(namedDid(operation) ?? namedCredential(operation)?.signer ?? '')?.did
}

/**
 * A DID from its full text, or of a key from its identifier alone, checksum checked; with the 21 bytes by which rows know it, of a key
 * its program hash. A name alone could be any word.
 */
export function parseDid(text: string): { did: string; programHash: ProgramHash } | undefined {
  if (typeof text !== 'string') return undefined
  const start = `did:${didMethod}:`
  const isFull = text.startsWith(start)
  const identifier = isFull ? text.slice(start.length) : text
  const programHash = keyOfIdentifier(identifier)
  return programHash === undefined || (!isFull && isDidName(identifier))
    ? undefined
    : { did: start + identifier, programHash }
}

/** The fault that keeps a text which {@link parseDid} refuses from being a DID: of an identifier, that there can then be none of a key. */
export function didFault(text: string): string {
  const start = `did:${didMethod}:`
  if (text.trim() !== text) return 'blanks stand around it'
  if (/^did(:|%3a)/i.test(text) && !text.startsWith(start)) return `it does not begin with ${start}`
  const { did } = parseDid(/^[^/?#]+(?=[/?#])/.exec(text)?.[0] ?? '') ?? {}
  if (did !== undefined) return `it is a DID URL; the DID in it is ${did}`
  const identifier = text.startsWith(start) ? text.slice(start.length) : text
  const inFull = isDidName(text) ? `; a name is written in full, as ${start}${text}` : ''
  return `${identifierFault(identifier)}; no key has it, so it cannot exist${inFull}`
}

/** Signs text with a key. */
export function signer(pair: KeyPair): (text: string) => Uint8Array {
  return (text) => sign(fromUtf8(text), pair.privateKey)
}

/** The id of the default key as in proofs of the DID's own operations: `#primary` in documents made here. */
function defaultKeyId(document: DidDocument): string {
  return relativeId(defaultKeyOf(document).id, document.id)
}

function defaultKeyOf({ id, defaultKey }: DidDocument): DidKey {
  if (defaultKey === undefined) throw new UserError(`the document of ${id} has no default key`)
  return defaultKey
}

function without<T extends { readonly id: string }>(
  entries: readonly T[],
  names: readonly string[],
  did: string,
  what: string,
): T[] {
  const fragments = names.map((name) => fragmentOf(name, did))
  for (const fragment of fragments) {
    if (!entries.some(({ id }) => id === `${did}#${fragment}`)) {
      throw new UserError(`the document has no ${what} #${fragment}`)
    }
  }
  return entries.filter(({ id }) => !fragments.includes(id.slice(did.length + 1)))
}
