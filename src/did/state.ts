import { InvariantError, RuleError } from '../errors.js'
import { fromUtf8 } from '../primitives/bytes.js'
import type { SignatureCheck } from '../primitives/signature.js'
import { decodeBase64url, decodedLength } from './base64url.js'
import { parseDocumentBytes } from './document.js'
import type { Credential, DidDocument, DidKey } from './model.js'
import type { DidRules, ParsedOperation } from './operation.js'

/** What the chain holds of one DID. Whether it is expired is a question of the moment, not a state. */
export interface DidState {
  readonly status: 'valid' | 'deactivated'
  /** How many operations the DID has had. */
  readonly operationCount: number
  /** Display hex of the last create, update or deactivate. */
  readonly lastTxid: string
  /** Display hex of the last create or update. */
  readonly documentTxid: string
  /** Bytes of the decoded payload that holds the document. */
  readonly documentPayloadSize: number
  readonly document: DidDocument
}

/** What an operation meets: the rules of the chain and its place on it. */
export interface DidContext extends DidRules {
  /** Display hex of the transaction that carries the operation. */
  readonly txid: string
  /** The last state of another DID, earlier transactions of the same block included. */
  issuer(did: string): DidState | undefined
}

/** A document of another DID that had to be read; the caller limits how many a block may need. */
export interface ForeignDocument {
  readonly txid: string
  readonly payloadSize: number
}

export interface AppliedOperation {
  readonly next: DidState
  /** All of them must hold, or the operation is refused with the code of the one that does not. */
  readonly checks: readonly SignatureCheck[]
  /** Signature cost: 2, and 1 for each credential proof to verify. */
  readonly cost: number
  /** Issuer documents that new foreign credentials refer to, each once. */
  readonly foreign: readonly ForeignDocument[]
}

const operationCost = 2

/**
 * The DID state machine: what `operation` makes of `previous`, the state of its DID before (undefined: none). Pure; it
 * reads no clock and verifies nothing. Throws a {@link RuleError} with a code for every refusal.
 *
 * - create needs no previous state and a signer among the document's own authentication keys;
 * - update names the last operation, and its signer is an authentication key of the document *before*;
 * - deactivate is signed by an authentication or authorization key of the last document, and is final;
 * - new credentials verify under an authentication key of this document (self-issued) or of the issuer's last one.
 */
export function applyOperation(
  previous: DidState | undefined,
  operation: ParsedOperation,
  context: DidContext,
): AppliedOperation {
  if (previous !== undefined && previous.document.id !== operation.did) {
    throw new InvariantError(`the state of ${previous.document.id} was given for an operation of ${operation.did}`)
  }
  if (operation.kind === 'create') {
    if (previous !== undefined) {
      refuseDeactivated(previous)
      throw new RuleError('did-exists', `${operation.did} exists already; an update can change it`)
    }
    return withDocument(undefined, operation, operation.document.authentication.get(operation.signer), context)
  }
  if (previous === undefined) throw new RuleError('did-unknown', `${operation.did} does not exist`)
  refuseDeactivated(previous)
  const { authentication, authorization } = previous.document
  if (operation.kind === 'update') {
    if (operation.previousTxid !== previous.lastTxid) {
      throw new RuleError(
        'did-previous-txid',
        `previousTxid is ${operation.previousTxid}, but the last operation of ${operation.did} is ${previous.lastTxid}`,
      )
    }
    return withDocument(previous, operation, authentication.get(operation.signer), context)
  }
  const key = authentication.get(operation.signer) ?? authorization.get(operation.signer)
  return {
    next: {
      ...previous,
      status: 'deactivated',
      operationCount: previous.operationCount + 1,
      lastTxid: context.txid,
    },
    checks: [operationCheck(operation, key)],
    cost: operationCost,
    foreign: [],
  }
}

function refuseDeactivated(state: DidState): void {
  if (state.status === 'deactivated') {
    throw new RuleError('did-deactivated', `${state.document.id} is deactivated, which is final`)
  }
}

/** A create or update whose place is right. */
function withDocument(
  previous: DidState | undefined,
  operation: Exclude<ParsedOperation, { kind: 'deactivate' }>,
  signer: DidKey | undefined,
  context: DidContext,
): AppliedOperation {
  const { document } = operation
  const credentials = newCredentials(document, previous?.document, context)
  return {
    next: {
      status: 'valid',
      operationCount: (previous?.operationCount ?? 0) + 1,
      lastTxid: context.txid,
      documentTxid: context.txid,
      documentPayloadSize: operation.payloadSize,
      document,
    },
    checks: [operationCheck(operation, signer), documentCheck(document), ...credentials.checks],
    cost: operationCost + credentials.checks.length,
    foreign: credentials.foreign,
  }
}

function operationCheck(operation: ParsedOperation, key: DidKey | undefined): SignatureCheck {
  if (key === undefined) {
    const lists = operation.kind === 'deactivate' ? 'authentication or authorization' : 'authentication'
    const whose = operation.kind === 'create' ? 'the document' : 'the last document on the chain'
    throw new RuleError('did-signer', `${operation.signer} does not stand in ${lists} of ${whose}`)
  }
  return {
    message: operation.message,
    keys: [key.publicKey],
    signatures: [operation.signature],
    code: 'did-signature',
    subject: `${operation.kind} operation of ${operation.did}`,
  }
}

function documentCheck(document: DidDocument): SignatureCheck {
  const [proof] = document.proofs
  if (proof === undefined || document.defaultKey === undefined) {
    throw new InvariantError(`the document of ${document.id} was not read by the rules of a chain`)
  }
  return {
    message: fromUtf8(document.signingText),
    keys: [document.defaultKey.publicKey],
    signatures: [proof.signature],
    code: 'document-proof',
    subject: `document proof of ${document.id}`,
  }
}

/** The checks of the credentials that the previous document did not hold letter by letter. */
function newCredentials(
  document: DidDocument,
  previous: DidDocument | undefined,
  context: DidContext,
): { readonly checks: SignatureCheck[]; readonly foreign: ForeignDocument[] } {
  const kept = new Set(previous?.credentials.map((credential) => credential.text))
  const added = document.credentials.filter((credential) => !kept.has(credential.text))
  const foreignCount = added.filter((credential) => credential.issuer !== document.id).length
  if (foreignCount > context.limits.foreignCredentials) {
    throw new RuleError(
      'credential-foreign-limit',
      `${foreignCount} new credentials by other issuers, at most ${context.limits.foreignCredentials} are allowed`,
    )
  }
  const foreign = new Map<string, ForeignDocument>()
  const checks = added.map((credential) => {
    if (credential.issuer === document.id) return credentialCheck(credential, document)
    const issuer = issuerState(credential, context)
    foreign.set(issuer.documentTxid, { txid: issuer.documentTxid, payloadSize: issuer.documentPayloadSize })
    return credentialCheck(credential, issuer.document)
  })
  return { checks, foreign: [...foreign.values()] }
}

function issuerState(credential: Credential, context: DidContext): DidState {
  const state = context.issuer(credential.issuer)
  if (state === undefined) {
    throw new RuleError('credential-issuer-unknown', `${credential.issuer}, issuer of ${credential.id}, does not exist`)
  }
  if (state.status === 'deactivated') {
    throw new RuleError(
      'credential-issuer-deactivated',
      `${credential.issuer}, issuer of ${credential.id}, is deactivated`,
    )
  }
  return state
}

function credentialCheck(credential: Credential, issuer: DidDocument): SignatureCheck {
  const { verificationMethod, signature } = credential.proof
  const key = issuer.authentication.get(verificationMethod)
  if (key === undefined) {
    throw new RuleError(
      'credential-key',
      `${verificationMethod}, which ${credential.id} names, is no authentication key of its issuer`,
    )
  }
  return {
    message: fromUtf8(credential.signingText),
    keys: [key.publicKey],
    signatures: [signature],
    code: 'credential-proof',
    subject: `proof of credential ${credential.id}`,
  }
}

/**
 * The document inside the payload of a create or update that the chain accepted before. For storage, undo and the
 * resolver: it leaves out the costly test of key points. Throws an {@link InvariantError} for a payload that cannot
 * have been accepted.
 */
export function documentOfPayload(payload: string, method: string): DidDocument {
  const bytes = decodeBase64url(payload)
  if (bytes === undefined) throw new InvariantError('a stored payload is not base64url')
  try {
    return parseDocumentBytes(bytes, { method, chain: true, trusted: true })
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    throw new InvariantError(`a stored document is not valid (${error.code}): ${error.message}`)
  }
}

/** What storage keeps of a DID beside the payload of its last document. */
export type DidHead = Omit<DidState, 'document' | 'documentPayloadSize'>

/** The state that a stored head and the stored payload of its document spell; see {@link documentOfPayload}. */
export function restoreState(head: DidHead, payload: string, method: string): DidState {
  return {
    status: head.status,
    operationCount: head.operationCount,
    lastTxid: head.lastTxid,
    documentTxid: head.documentTxid,
    documentPayloadSize: decodedLength(payload.length),
    document: documentOfPayload(payload, method),
  }
}
