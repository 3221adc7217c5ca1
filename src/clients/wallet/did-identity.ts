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
import { brokenRule } from '../../base/errors/broken-rule.js'
import { RuleError, UserError } from '../../base/errors/rule-error.js'
import { parseAddress, prefix, type ProgramHash } from '../../base/primitives/address.js'
import { equalBytes, fromUtf8 } from '../../base/primitives/bytes.js'
import { defined } from '../../base/primitives/defined.js'
import { type DidOperation, operationForm } from '../../base/primitives/did-operation.js'
import { didMethod } from '../../base/primitives/did-method.js'
import type { KeyPair, SigningAccount } from './accounts.js'

/** Input of every operation of a wallet. */
export interface OperationContext {
  readonly account: SigningAccount
  /** The specification string of the chain. */
  readonly specification: string
  /** Time of the proof, `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly created: string
}

/** The recovery key of a new DID. With a controller it is a key of another DID, which may then deactivate this one. */
export interface RecoveryKey {
  /** 33 bytes, compressed. */
  readonly publicKey: Uint8Array
  readonly controller?: string
}

/** The state that an operation on an existing DID follows. */
export interface CurrentIdentity {
  readonly document: DidDocument
  /** Display hex of the last operation. */
  readonly txid: string
}

/** Changes of a document by an update. */
export interface DocumentChanges {
  readonly addServices: readonly unknown[]
  /** Fragments without `#`. */
  readonly removeServices: readonly string[]
  /** Signed credentials: JSON texts. */
  readonly addCredentials: readonly string[]
  readonly removeCredentials: readonly string[]
  readonly expires?: string
}

/** The create operation of an account's DID: document and operation are signed by its default key `#primary`. */
export function createIdentity(
  { account, specification, created }: OperationContext,
  options: { recovery?: RecoveryKey; services: readonly unknown[]; expires: string },
): DidOperation {
  const { recovery, services, expires } = options
  const plan = planNew({
    method: didMethod,
    primary: account.publicKey,
    ...defined({ recovery }),
    expires,
    created,
  })
  const document = buildDocument({ ...plan, services }, signer(account))
  return buildCreate(document, { specification, verificationMethod: defaultKeyId(document) }, signer(account))
}

/** The update operation that applies `changes` to the current document of the account's DID. */
export function updateIdentity(
  { account, specification, created }: OperationContext,
  current: CurrentIdentity,
  changes: DocumentChanges,
): DidOperation {
  const { document: before, txid: previousTxid } = current
  const services = without(before.services, changes.removeServices, before.id, 'service')
  const credentials = without(before.credentials, changes.removeCredentials, before.id, 'credential')
  const kept = planOf({ ...before, services, credentials }, didMethod, created)
  const plan: DocumentPlan = {
    ...kept,
    services: [...(kept.services ?? []), ...changes.addServices],
    credentials: [...(kept.credentials ?? []), ...changes.addCredentials],
    ...(changes.expires === undefined ? {} : { expires: changes.expires }),
  }
  const document = buildDocument(plan, signer(account))
  const verificationMethod = defaultKeyId(before)
  return buildUpdate(document, { specification, verificationMethod, previousTxid }, signer(account))
}

/** A prepared update, signed again to follow the current last operation; its document stays unchanged. */
export function rebaseUpdate(account: SigningAccount, current: CurrentIdentity, prepared: DidOperation): DidOperation {
  if (!operationForm(prepared)?.previousTxid) {
    throw new UserError(`only an update can be rebased; this operation is "${prepared.operation}"`)
  }
  if (didOfOperation(prepared) !== current.document.id) {
    throw new UserError(`the prepared update is not one of ${current.document.id}`)
  }
  const rebased = {
    ...prepared,
    previousTxid: current.txid,
    verificationMethod: defaultKeyId(current.document),
  }
  return { ...rebased, signature: encodeBase64url(signer(account)(signedText(rebased))) }
}

/**
 * The deactivate operation of a DID, signed by the account's recovery key if the document lists it, else by the account's key: as
 * a key of the DID itself, or as one that its document authorises. A {@link UserError} if it lists neither.
 */
export function deactivateIdentity(
  { account, specification }: Omit<OperationContext, 'created'>,
  document: DidDocument,
): DidOperation {
  const listed = [...document.authentication.values(), ...document.authorization.values()]
  const find = (pair: KeyPair): { pair: KeyPair; key: DidKey } | undefined => {
    const key = listed.find(({ publicKey }) => equalBytes(publicKey, pair.publicKey))
    return key && { pair, key }
  }
  const found = (account.recovery && find(account.recovery)) ?? find(account)
  if (found === undefined) {
    throw new UserError(`no key of this account may deactivate ${document.id}: its document lists none of them`)
  }
  const verificationMethod = relativeId(found.key.id, document.id)
  return buildDeactivate(document.id, { specification, verificationMethod }, signer(found.pair))
}

/** Reads the document in the payload of a create or update that a node reported. */
export function documentOf(payload: string): DidDocument {
  const bytes = decodeBase64url(payload)
  try {
    if (bytes === undefined) throw brokenRule('did-payload-encoding')
    return parseDocumentBytes(bytes, { method: didMethod, chain: true })
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    throw new UserError(`the node reported a document that no chain accepts (${error.code}): ${error.message}`)
  }
}

/** The DID that an operation changes, or that declares or revokes; checksum checked. Undefined if it names none. */
export function didOfOperation(operation: DidOperation): string | undefined {
  return parseDid(namedDid(operation) ?? namedCredential(operation)?.signer ?? '')?.did
}

/** A DID from its full text or its identifier alone, checksum checked, with its program hash. */
export function parseDid(text: string): { did: string; programHash: ProgramHash } | undefined {
  const start = `did:${didMethod}:`
  const identifier = text.startsWith(start) ? text.slice(start.length) : text
  const programHash = parseAddress(identifier)
  return programHash?.[0] === prefix.did ? { did: start + identifier, programHash } : undefined
}

/** The fault that keeps a text which {@link parseDid} refuses from being a DID of a key, and that there can then be none. */
export function didFault(text: string): string {
  const start = `did:${didMethod}:`
  if (text.startsWith('did:') && !text.startsWith(start)) return `it does not begin with ${start}`
  const identifier = text.startsWith(start) ? text.slice(start.length) : text
  return `${identifierFault(identifier)}; no key has it, so it cannot exist`
}

/** Signs text with a key. */
export function signer(pair: KeyPair): (text: string) => Uint8Array {
  return (text) => sign(fromUtf8(text), pair.privateKey)
}

/** The id of the default key as in proofs of the DID's own operations: `#primary` in documents made here. */
function defaultKeyId(document: DidDocument): string {
  if (document.defaultKey === undefined) throw new UserError(`the document of ${document.id} has no default key`)
  return relativeId(document.defaultKey.id, document.id)
}

function without<T extends { readonly id: string }>(
  entries: readonly T[],
  fragments: readonly string[],
  did: string,
  what: string,
): T[] {
  for (const fragment of fragments) {
    if (!entries.some(({ id }) => id === `${did}#${fragment}`)) {
      throw new UserError(`the document has no ${what} #${fragment}`)
    }
  }
  return entries.filter(({ id }) => !fragments.includes(id.slice(did.length + 1)))
}
