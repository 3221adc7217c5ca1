import bs58 from 'bs58'
import { didFromPublicKey } from '../../base/primitives/address.js'
import { fromUtf8 } from '../../base/primitives/bytes.js'
import { defined } from '../../base/primitives/defined.js'
import { type DidOperation, type OperationName, operationForms } from '../../base/primitives/did-operation.js'
import { encodeBase64url } from './base64url.js'
import { documentText, serviceText } from './canonical.js'
import { parseCredential } from './credential.js'
import { neededControllers } from './control.js'
import { parseDocument, sortProofs } from './document.js'
import { relativeId } from './identifier.js'
import { type Credential, type DidDocument, type DidKey, type DocumentProof, signatureType } from './model.js'
import { signedText } from './operation.js'
import { fromPlain, strictValue } from './plain-json.js'
import { encodeTicket, type Ticket } from './ticket.js'

/** The 64-byte signature r‖s of SHA-256 of the UTF-8 bytes of `text`. */
export type Sign = (text: string) => Uint8Array

export interface PlannedKey {
  /** The name after the `#`. */
  readonly fragment: string
  /** 33 bytes, compressed. */
  readonly publicKey: Uint8Array
  /** Power of the key: to sign for the DID, to deactivate it on behalf of another DID, or none. */
  readonly use: 'authentication' | 'authorization' | 'none'
  /** The DID that controls a key which is not the document's own. */
  readonly controller?: string
}

/** A key with which others encrypt to a DID. */
export interface PlannedAgreementKey {
  /** The name after the `#`. */
  readonly fragment: string
  /** Text of a Multikey of P-256 or X25519. */
  readonly publicKeyMultibase: string
}

/** A document before it is signed. */
export interface DocumentPlan {
  readonly method: string
  readonly did: string
  /** Who controls a DID with a name, and how many of several sign. */
  readonly control?: Pick<DidDocument, 'controllers' | 'multisig'>
  readonly context?: readonly string[]
  /** One of them derives the DID. */
  readonly keys: readonly PlannedKey[]
  /** Absolute URIs. */
  readonly alsoKnownAs?: readonly string[]
  /** Keys with which others encrypt to the DID. */
  readonly keyAgreement?: readonly PlannedAgreementKey[]
  /** Objects or JSON texts in the form of documents. */
  readonly services?: readonly unknown[]
  /** Signed credentials, objects or JSON texts. */
  readonly credentials?: readonly unknown[]
  /** `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly expires: string
  /** When the proof is made, in the same form. */
  readonly created: string
}

export const primaryFragment = 'primary'
export const recoveryFragment = 'recovery'

/**
 * The plan of a new DID: the default key `#primary`, and as `#recovery` either a second authentication key or, with a
 * controller, an authorization key of another DID.
 */
export function planNew(options: {
  readonly method: string
  readonly primary: Uint8Array
  readonly recovery?: { readonly publicKey: Uint8Array; readonly controller?: string }
  readonly expires: string
  readonly created: string
}): DocumentPlan {
  const { method, primary, recovery, expires, created } = options
  const keys: PlannedKey[] = [{ fragment: primaryFragment, publicKey: primary, use: 'authentication' }]
  if (recovery !== undefined) {
    const use = recovery.controller === undefined ? 'authentication' : 'authorization'
    keys.push({ fragment: recoveryFragment, use, ...recovery })
  }
  return { method, did: didFromPublicKey(primary, { method }), keys, expires, created }
}

/** Plan of an existing document, to be changed and signed again at `created`. */
export function planOf(document: DidDocument, method: string, created: string): DocumentPlan {
  return {
    method,
    did: document.id,
    ...(document.controllers.length > 0 && { control: controlOf(document) }),
    context: document.context,
    alsoKnownAs: document.alsoKnownAs,
    keyAgreement: document.keyAgreement.map(({ id, publicKeyMultibase }) => ({
      fragment: relativeId(id, document.id).slice(1),
      publicKeyMultibase,
    })),
    keys: document.keys.map((key) => plannedKey(key, document)),
    services: document.services.map(serviceText),
    credentials: document.credentials.map((credential) => credential.text),
    expires: document.expires,
    created,
  }
}

function controlOf({ controllers, multisig }: DidDocument): Pick<DidDocument, 'controllers' | 'multisig'> {
  return { controllers, ...defined({ multisig }) }
}

function plannedKey({ id, publicKey, controller }: DidKey, document: DidDocument): PlannedKey {
  const use = document.authentication.has(id)
    ? 'authentication'
    : document.authorization.has(id)
      ? 'authorization'
      : 'none'
  const fragment = relativeId(id, document.id).slice(1)
  return { fragment, publicKey, use, ...(controller === document.id ? {} : { controller }) }
}

/**
 * Builds and signs the document of a plan; `sign` signs with its default key. All text is brought into NFC, the form
 * that other tools sign. Throws a {@link RuleError} where the plan is no document a chain accepts.
 */
export function buildDocument(plan: DocumentPlan, sign: Sign): DidDocument {
  const draft = readDraft(plan, { created: plan.created, ...noSignature })
  const signature = sign(draft.signingText)
  const signatureText = encodeBase64url(signature)
  return { ...draft, proofs: draft.proofs.map((proof): DocumentProof => ({ ...proof, signature, signatureText })) }
}

/**
 * The document of a plan for a DID with a name, without a proof: its controllers add theirs by {@link addDocumentProof}. Throws a {@link
 * RuleError} where the plan is no document a chain accepts.
 */
export function draftDocument(plan: DocumentPlan): DidDocument {
  const { controllers = [], multisig } = plan.control ?? {}
  const signers = controllers.toSorted().slice(0, neededControllers({ ...defined({ multisig }) }))
  const proofs = signers.map((did) => ({ creator: `${did}#${primaryFragment}`, ...noSignature }))
  return { ...readDraft(plan, proofs.length === 1 ? proofs[0] : proofs), proofs: [] }
}

/** A document with one proof more, by the default key of a controller; `key` is its absolute id. */
export function addDocumentProof(
  document: DidDocument,
  { key: creator, created }: { readonly key: string; readonly created: string },
  sign: Sign,
): DidDocument {
  const signature = sign(document.signingText)
  const proof = { created, creator, signature, signatureText: encodeBase64url(signature) }
  return { ...document, proofs: sortProofs([...document.proofs, proof]) }
}

/** A proof is required, but its signature is not part of the signing text: any well-formed one does for a draft. */
const noSignature = { signatureValue: encodeBase64url(new Uint8Array(64)) }

function readDraft(plan: DocumentPlan, proof: unknown): DidDocument {
  const { controllers = [], multisig } = plan.control ?? {}
  const unsigned = {
    ...(plan.context === undefined ? {} : { '@context': plan.context }),
    id: plan.did,
    ...(controllers.length > 0 && { controller: controllers.length === 1 ? controllers[0] : controllers }),
    ...defined({ multisig }),
    alsoKnownAs: plan.alsoKnownAs ?? [],
    publicKey: plan.keys.map((key) => ({
      id: `#${key.fragment}`,
      publicKeyBase58: bs58.encode(key.publicKey),
      ...(key.controller === undefined ? {} : { controller: key.controller }),
    })),
    authentication: references(plan, 'authentication'),
    ...(plan.control === undefined && { authorization: references(plan, 'authorization') }),
    keyAgreement: (plan.keyAgreement ?? []).map(({ fragment, publicKeyMultibase }) => ({
      id: `#${fragment}`,
      publicKeyMultibase,
    })),
    verifiableCredential: plan.credentials?.map(plain) ?? [],
    service: plan.services?.map(plain) ?? [],
    expires: plan.expires,
    proof,
  }
  return parseDocument(fromPlain(unsigned), { method: plan.method, chain: true, names: true })
}

/**
 * The JSON text of a signed credential; `members` are its others than the proof, in the form of documents and with a full id. `sign`
 * signs with the key of the issuer, whose id may be relative. Throws a {@link RuleError} where that is no credential a chain accepts.
 */
export function signCredential(
  members: object,
  { method, key, created }: { readonly method: string; readonly key: string; readonly created?: string },
  sign: Sign,
): string {
  const unsigned = { ...defined({ created }), verificationMethod: key }
  const draft = { ...unsigned, signature: encodeBase64url(new Uint8Array(64)) }
  const rules = { method, chain: true, names: true }
  const { signingText } = parseCredential(fromPlain({ ...members, proof: draft }), '', rules, undefined)
  return JSON.stringify({ ...members, proof: { ...unsigned, signature: encodeBase64url(sign(signingText)) } })
}

function references(plan: DocumentPlan, use: PlannedKey['use']): string[] {
  return plan.keys.filter((key) => key.use === use).map((key) => `#${key.fragment}`)
}

function plain(value: unknown): unknown {
  return typeof value === 'string' ? strictValue(value) : value
}

interface OperationPlan {
  readonly specification: string
  /** The key that signs, absolute or `#fragment`. */
  readonly verificationMethod: string
}

/** A signed create of `document`; its payload is the normalised text, or `text`, which reads as the same document. */
export function buildCreate(
  document: DidDocument,
  plan: OperationPlan & { readonly text?: string },
  sign: Sign,
): DidOperation {
  return signed({ ...plan, operation: 'create', payload: documentPayload(document, plan.text) }, sign)
}

/** A signed update to `document`; `previousTxid` is the display hex of the last operation of the DID. */
export function buildUpdate(
  document: DidDocument,
  plan: OperationPlan & { readonly previousTxid: string; readonly text?: string },
  sign: Sign,
): DidOperation {
  return signed({ ...plan, operation: 'update', payload: documentPayload(document, plan.text) }, sign)
}

/** A signed transfer to `document`; `ticket` is that of the controllers before. */
export function buildDidTransfer(
  document: DidDocument,
  plan: OperationPlan & { readonly ticket: Ticket },
  sign: Sign,
): DidOperation {
  const ticket = encodeTicket(plan.ticket)
  return signed({ ...plan, ticket, operation: 'transfer', payload: documentPayload(document) }, sign)
}

/** A signed deactivate of `did`; a key of another DID signs under the id it has in the deactivated document. */
export function buildDeactivate(did: string, plan: OperationPlan, sign: Sign): DidOperation {
  return signed({ ...plan, operation: 'deactivate', payload: did }, sign)
}

/** A signed declare of a credential; the key is one of its holder. */
export function declareOperation(credential: Pick<Credential, 'text'>, plan: OperationPlan, sign: Sign): DidOperation {
  return signed({ ...plan, operation: 'declare', payload: encodeBase64url(fromUtf8(credential.text)) }, sign)
}

/** A signed revoke of the credential with an absolute id; a key that is not the holder's is named in full. */
export function revokeOperation(credentialId: string, plan: OperationPlan, sign: Sign): DidOperation {
  return signed({ ...plan, operation: 'revoke', payload: credentialId }, sign)
}

function documentPayload(document: DidDocument, text = documentText(document)): string {
  return encodeBase64url(fromUtf8(text))
}

function signed(
  parts: OperationPlan & {
    readonly operation: OperationName
    readonly previousTxid?: string
    readonly ticket?: string
    readonly payload: string
  },
  sign: Sign,
): DidOperation {
  const { specification, operation, previousTxid, ticket, payload, verificationMethod } = parts
  const unsigned: DidOperation = {
    specification,
    operation,
    ...defined({ previousTxid, ticket }),
    payload,
    proofType: operationForms[operation].proofType ? signatureType : '',
    verificationMethod,
    signature: '',
  }
  return { ...unsigned, signature: encodeBase64url(sign(signedText(unsigned))) }
}
