/**
 * Decides what an operation does to its DID; the room also reads documents and credentials, and has their canonical text.
 *
 *   DidOperation of a transaction -> parseOperationSteps          operation.ts: kind, signer, document
 *     -> operationSteps(previous DidState, operation, DidContext)
 *        create, update -> withDocument -> newCredentials        rights of the signer, issuers of new credentials
 *        deactivate                                              no document is kept
 *     -> AppliedOperation: next DidState, signature checks, cost, documents read
 *
 * Imports errors, primitives; used by consensus, mempool, storage, events, resolver, wallet, client, api, library, cli.
 * - Deactivated is final; an update names the last operation of its DID.
 * - A document is counted before it is read, so that the caller can limit a block.
 * - Pure: no clock (expiry is left to the resolver), no verification, no rows.
 */
import { InvariantError, RuleError } from '../errors/rule-error.js'
import { fromUtf8 } from '../primitives/bytes.js'
import type { SignatureCheck } from '../primitives/signature.js'
import { finish, type Steps } from '../primitives/steps.js'
import { credentialDigest, type KnownDocument, type KnownKeys, knownDocument } from './known-document.js'
import type { Credential, DidDocument } from './model.js'
import type { DidRules, ParsedOperation } from './operation.js'

/**
 * State of one DID on the chain. Expiry depends on the time and is no part of it. Reading size and document may cost a database
 * read; all else is in memory.
 */
export interface DidState {
  readonly status: 'valid' | 'deactivated'
  /** Number of operations of the DID so far. */
  readonly operationCount: number
  /** Display hex of the last create, update or deactivate. */
  readonly lastTxid: string
  /** Display hex of the last create or update. */
  readonly documentTxid: string
  /** Bytes of the decoded payload that holds the document. */
  readonly documentPayloadSize: number
  readonly document: KnownDocument
}

/** Context of an operation: the rules of the chain and its transaction. */
export interface DidContext extends DidRules {
  /** Display hex of the transaction that carries the operation. */
  readonly txid: string
  /** The last state of another DID, earlier transactions of the same block included. */
  issuer(did: string): DidState | undefined
  /** Called with each document before it is read; throws when it exceeds a limit. */
  reading?(document: ReadDocument): void
}

/** A document that an operation needs, cached or not; the caller limits them for a block. */
export interface ReadDocument {
  /** Display hex of the transaction that holds it, which may be one of the same block. */
  readonly txid: string
  /** Bytes of its decoded payload. */
  readonly payloadSize: number
  /** Read for a credential that its DID issued; else it is the own previous document of an update or deactivate. */
  readonly issuer: boolean
}

export interface AppliedOperation {
  readonly next: DidState
  /** All must hold, else the operation is refused with the code of the failed one. */
  readonly checks: readonly SignatureCheck[]
  /** Signature cost: 2, and 1 for each credential proof to verify. */
  readonly cost: number
  /** The own previous document, then those of the issuers of new foreign credentials, each once. */
  readonly reads: readonly ReadDocument[]
  /** What the operation puts on the chain; undefined for a deactivate. */
  readonly document?: DidDocument
}

const operationCost = 2

/**
 * The DID state machine: applies `operation` to `previous`, the state of its DID before (undefined: none). Pure; it
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
  return finish(operationSteps(previous, operation, context))
}

/** {@link applyOperation} in steps: one for each document that is read. */
export function* operationSteps(
  previous: DidState | undefined,
  operation: ParsedOperation,
  context: DidContext,
): Steps<AppliedOperation> {
  const reads = new Reads(context)
  if (operation.kind === 'create') {
    if (previous !== undefined) {
      refuseDeactivated(previous, operation.did)
      throw new RuleError('did-exists', `${operation.did} exists already; an update can change it`)
    }
    const key = operation.document.authentication.get(operation.signer)?.publicKey
    return yield* withDocument(undefined, operation, operationCheck(operation, key), reads)
  }
  if (previous === undefined) throw new RuleError('did-unknown', `${operation.did} does not exist`)
  refuseDeactivated(previous, operation.did)
  if (operation.kind === 'update' && operation.previousTxid !== previous.lastTxid) {
    throw new RuleError(
      'did-previous-txid',
      `previousTxid is ${operation.previousTxid}, but the last operation of ${operation.did} is ${previous.lastTxid}`,
    )
  }
  const { id, authentication, authorization } = reads.read(previous, { issuer: false })
  if (id !== operation.did)
    throw new InvariantError(`the state of ${id} was given for an operation of ${operation.did}`)
  yield
  const signer = keyOf(authentication, operation.signer)
  const delegate = operation.kind === 'deactivate' ? keyOf(authorization, operation.signer) : undefined
  const check = operationCheck(operation, signer ?? delegate)
  if (operation.kind === 'update') return yield* withDocument(previous, operation, check, reads)
  return deactivated(previous, operation, check, reads)
}

/** The last operation of a DID. Its type is exact, so that an operation of another kind that ends up here does not compile. */
function deactivated(
  previous: DidState,
  { did }: Extract<ParsedOperation, { kind: 'deactivate' }>,
  check: SignatureCheck,
  reads: Reads,
): AppliedOperation {
  const { operationCount, documentTxid, documentPayloadSize } = previous
  return {
    next: {
      status: 'deactivated',
      operationCount: operationCount + 1,
      lastTxid: reads.context.txid,
      documentTxid,
      documentPayloadSize,
      document: noDocument(did),
    },
    checks: [check],
    cost: operationCost,
    reads: reads.documents,
  }
}

/** No rule reads the document of a deactivated DID, so nothing of it is kept. */
function noDocument(id: string): KnownDocument {
  return { id, authentication: new Map(), authorization: new Map(), credentials: new Set() }
}

/** The documents that one operation reads, each counted before it is read. */
class Reads {
  readonly #context: DidContext
  readonly #documents = new Map<string, ReadDocument>()

  constructor(context: DidContext) {
    this.#context = context
  }

  get context(): DidContext {
    return this.#context
  }

  get documents(): readonly ReadDocument[] {
    return [...this.#documents.values()]
  }

  read(state: DidState, { issuer }: { issuer: boolean }): KnownDocument {
    const { documentTxid: txid } = state
    if (!this.#documents.has(txid)) {
      const document = { txid, payloadSize: state.documentPayloadSize, issuer }
      this.#context.reading?.(document)
      this.#documents.set(txid, document)
    }
    return state.document
  }
}

function keyOf(keys: KnownKeys, id: string): Uint8Array | undefined {
  const key = keys.get(id)
  return key === undefined ? undefined : Buffer.from(key, 'latin1')
}

function refuseDeactivated({ status }: DidState, did: string): void {
  if (status === 'deactivated') throw new RuleError('did-deactivated', `${did} is deactivated, which is final`)
}

/** A create or update that its DID's state permits. */
function* withDocument(
  previous: DidState | undefined,
  operation: Exclude<ParsedOperation, { kind: 'deactivate' }>,
  check: SignatureCheck,
  reads: Reads,
): Steps<AppliedOperation> {
  const { document } = operation
  const credentials = yield* newCredentials(document, previous?.document, reads)
  const { txid } = reads.context
  return {
    next: {
      status: 'valid',
      operationCount: (previous?.operationCount ?? 0) + 1,
      lastTxid: txid,
      documentTxid: txid,
      documentPayloadSize: operation.payloadSize,
      document: knownDocument(document),
    },
    checks: [check, documentCheck(document), ...credentials],
    cost: operationCost + credentials.length,
    reads: reads.documents,
    document,
  }
}

function operationCheck(operation: ParsedOperation, key: Uint8Array | undefined): SignatureCheck {
  if (key === undefined) {
    const lists = operation.kind === 'deactivate' ? 'authentication or authorization' : 'authentication'
    const whose = operation.kind === 'create' ? 'the document' : 'the last document on the chain'
    throw new RuleError('did-signer', `${operation.signer} does not stand in ${lists} of ${whose}`)
  }
  return {
    message: operation.message,
    keys: [key],
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

/** Checks of the credentials that the previous document did not contain with identical text. */
function* newCredentials(
  document: DidDocument,
  previous: KnownDocument | undefined,
  reads: Reads,
): Steps<SignatureCheck[]> {
  if (document.credentials.length === 0) return []
  const kept = previous?.credentials
  yield
  const added = document.credentials.filter((credential) => kept?.has(credentialDigest(credential)) !== true)
  const foreignCount = added.filter((credential) => credential.issuer !== document.id).length
  const { context } = reads
  if (foreignCount > context.limits.foreignCredentials) {
    throw new RuleError(
      'credential-foreign-limit',
      `${foreignCount} new credentials by other issuers, at most ${context.limits.foreignCredentials} are allowed`,
    )
  }
  const checks: SignatureCheck[] = []
  for (const credential of added) {
    const { verificationMethod } = credential.proof
    if (credential.issuer === document.id) {
      checks.push(credentialCheck(credential, document.authentication.get(verificationMethod)?.publicKey))
    } else {
      const issuer = reads.read(issuerState(credential, context), { issuer: true })
      checks.push(credentialCheck(credential, keyOf(issuer.authentication, verificationMethod)))
    }
    yield
  }
  return checks
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

function credentialCheck(credential: Credential, key: Uint8Array | undefined): SignatureCheck {
  const { verificationMethod, signature } = credential.proof
  if (key === undefined) {
    throw new RuleError(
      'credential-key',
      `${verificationMethod}, which ${credential.id} names, is no authentication key of its issuer`,
    )
  }
  return {
    message: fromUtf8(credential.signingText),
    keys: [key],
    signatures: [signature],
    code: 'credential-proof',
    subject: `proof of credential ${credential.id}`,
  }
}
