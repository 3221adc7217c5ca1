import { RuleError } from '../errors/rule-error.js'
import { fromUtf8 } from '../primitives/bytes.js'
import type { DidOperation } from '../primitives/did-operation.js'
import { finish, type Steps } from '../primitives/steps.js'
import { type JsonObject, type JsonValue, parseStrictJson } from '../primitives/strict-json.js'
import { decodeBase64url, decodedLength, decodeSignature } from './base64url.js'
import { documentBytesSteps } from './document.js'
import { absoluteId, type IdRules, isDid, maxIdLength } from './identifier.js'
import { type DidDocument, signatureType } from './model.js'

/** Limits of one DID operation; the values of the shipped chains are {@link defaultDidLimits}. */
export interface DidLimits {
  /** Bytes of a decoded document. */
  readonly payloadBytes: number
  /** Keys, services and credentials of one document together. */
  readonly entries: number
  /** New credentials by other issuers in one document. */
  readonly foreignCredentials: number
}

export const defaultDidLimits: DidLimits = { payloadBytes: 128 * 1024, entries: 256, foreignCredentials: 32 }

/** Rules of a chain's spec for DID operations. */
export interface DidRules {
  readonly method: string
  /** Accepted `specification` strings. */
  readonly specifications: { readonly did: readonly string[]; readonly credential: readonly string[] }
  readonly limits: DidLimits
}

interface ReadOperation {
  readonly did: string
  /** Absolute id of the key that signs. */
  readonly signer: string
  /** The signed bytes. */
  readonly message: Uint8Array
  /** 64 bytes, r‖s. */
  readonly signature: Uint8Array
}

interface WithDocument {
  readonly document: DidDocument
  /** Length of the decoded payload in bytes. */
  readonly payloadSize: number
}

/** An operation with valid texts and a parsed document, not yet checked against any state. */
export type ParsedOperation = ReadOperation &
  (
    | ({ readonly kind: 'create' } & WithDocument)
    | ({ readonly kind: 'update'; readonly previousTxid: string } & WithDocument)
    | { readonly kind: 'deactivate' }
  )

const txidForm = /^[0-9a-f]{64}$/

/**
 * The text that an operation's proof signs: specification, operation, previousTxid on an update, payload, joined without
 * separators. `legacy` leaves previousTxid out, as tools of 2019 did.
 */
export function signedText(operation: DidOperation, options: { legacy?: boolean } = {}): string {
  const previous = operation.operation === 'update' && !options.legacy ? (operation.previousTxid ?? '') : ''
  return operation.specification + operation.operation + previous + operation.payload
}

/**
 * Checks everything of an operation that needs no state: names, previousTxid, payload, the form of its proof. Throws a {@link
 * RuleError} with a `did-…`, `json-…`, `document-…` or `credential-…` code.
 */
export function parseOperation(operation: DidOperation, rules: DidRules): ParsedOperation {
  return finish(parseOperationSteps(operation, rules))
}

/** {@link parseOperation} in steps. */
export function* parseOperationSteps(operation: DidOperation, rules: DidRules): Steps<ParsedOperation> {
  const kind = kindOf(operation, rules)
  if (operation.proofType !== '' && operation.proofType !== signatureType) {
    throw new RuleError('did-proof-type', `the proof type is neither empty nor ${signatureType}`)
  }
  const previousTxid = previousTxidOf(operation)
  const signature = decodeSignature(operation.signature)
  if (signature === undefined) throw new RuleError('did-signature-form')
  if (kind === 'deactivate') {
    const did = operation.payload
    if (!isDid(did, idRules(rules))) {
      throw new RuleError('did-payload-did', `the payload of a deactivate is not a DID: ${did.slice(0, 80)}`)
    }
    return { kind, did, signer: signerOf(operation, did, rules), message: messageOf(operation), signature }
  }
  const bytes = payloadBytes(operation.payload, rules.limits.payloadBytes)
  const document = yield* documentBytesSteps(bytes, { ...idRules(rules), maxEntries: rules.limits.entries })
  const did = document.id
  const signer = signerOf(operation, did, rules)
  yield
  const read = { did, signer, message: messageOf(operation), signature, document, payloadSize: bytes.length }
  return previousTxid === undefined ? { kind: 'create', ...read } : { kind: 'update', previousTxid, ...read }
}

/** Call it for checked payloads only: others may be megabytes. */
function messageOf(operation: DidOperation): Uint8Array {
  return fromUtf8(signedText(operation))
}

function idRules(rules: DidRules): IdRules {
  return { method: rules.method, chain: true }
}

function kindOf({ operation, specification }: DidOperation, rules: DidRules): ParsedOperation['kind'] {
  if (operation === 'declare' || operation === 'revoke') {
    throw new RuleError('did-credential-operation', `the credential operation ${operation} is not accepted yet`)
  }
  if (operation !== 'create' && operation !== 'update' && operation !== 'deactivate') {
    throw new RuleError('did-operation-unknown', `no operation is called ${JSON.stringify(operation.slice(0, 40))}`)
  }
  if (!rules.specifications.did.includes(specification)) {
    throw new RuleError(
      'did-specification',
      `specification ${JSON.stringify(specification.slice(0, 80))}: this chain accepts ${rules.specifications.did.join(', ')}`,
    )
  }
  return operation
}

/** The previousTxid of an update; undefined for other operations, which must have none. Else throws `did-previous-form`. */
export function previousTxidOf({ operation, previousTxid }: DidOperation): string | undefined {
  if (operation === 'update' ? txidForm.test(previousTxid ?? '') : previousTxid === undefined) return previousTxid
  throw new RuleError('did-previous-form')
}

function payloadBytes(payload: string, limit: number): Uint8Array {
  if (decodedLength(payload.length) > limit) {
    throw new RuleError('did-payload-size', `the payload decodes to more than ${limit} bytes`)
  }
  const bytes = decodeBase64url(payload)
  if (bytes === undefined) throw new RuleError('did-payload-encoding')
  return bytes
}

/** Absolute id of the signing key, which need not belong to the DID here. */
function signerOf({ verificationMethod }: DidOperation, did: string, rules: DidRules): string {
  const id = verificationMethod.length > maxIdLength ? undefined : absoluteId(verificationMethod, did, idRules(rules))
  if (id !== undefined) return id
  throw new RuleError('did-verification-method', `verificationMethod is no key id: ${verificationMethod.slice(0, 200)}`)
}

/**
 * Reads an operation `{header, payload, proof}` of another tool, as JSON text. Refuses other members, and a previousTxid on
 * anything but an update. Throws a {@link RuleError} (`did-operation-form`, or `json-…` for text that is no strict JSON); {@link
 * parseOperation} checks the values.
 */
export function readOperationJson(text: string): DidOperation {
  const top = members(parseStrictJson(text, { depth: 4, tokens: 64 }), 'the operation', ['header', 'payload', 'proof'])
  const header = members(top.get('header'), 'header', ['specification', 'operation', 'previousTxid'])
  const proof = members(top.get('proof'), 'proof', ['type', 'verificationMethod', 'signature'])
  const operation = textMember(header, 'header', 'operation')
  if (header.has('previousTxid') !== (operation === 'update')) {
    throw new RuleError('did-operation-form', 'header.previousTxid must stand on an update and on nothing else')
  }
  return {
    specification: textMember(header, 'header', 'specification'),
    operation,
    ...(operation === 'update' ? { previousTxid: textMember(header, 'header', 'previousTxid') } : {}),
    payload: textMember(top, 'the operation', 'payload'),
    proofType: proof.has('type') ? textMember(proof, 'proof', 'type') : '',
    verificationMethod: textMember(proof, 'proof', 'verificationMethod'),
    signature: textMember(proof, 'proof', 'signature'),
  }
}

function members(value: JsonValue | undefined, where: string, known: readonly string[]): JsonObject {
  if (!(value instanceof Map)) throw new RuleError('did-operation-form', `${where} is missing or not an object`)
  const unknown = [...value.keys()].find((name) => !known.includes(name))
  if (unknown !== undefined) {
    throw new RuleError('did-operation-form', `${where} has a member ${JSON.stringify(unknown)} that no operation has`)
  }
  return value
}

function textMember(object: JsonObject, where: string, name: string): string {
  const value = object.get(name)
  if (typeof value === 'string') return value
  throw new RuleError('did-operation-form', `${where}: the member ${name} is missing or not a string`)
}
