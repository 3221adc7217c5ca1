import { brokenPageRule, brokenRule } from '../../base/errors/broken-rule.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { fromUtf8 } from '../../base/primitives/bytes.js'
import {
  type DidOperation,
  isAboutCredential,
  isOperationName,
  operationForm,
  operationForms,
  type OperationName,
} from '../../base/primitives/did-operation.js'
import { hasName } from '../../base/primitives/did-name.js'
import { finish, type Steps } from '../../base/primitives/steps.js'
import { type JsonObject, type JsonValue, parseStrictJson } from '../../base/primitives/strict-json.js'
import { decodeSignature } from './base64url.js'
import { type DidRules, idRules } from './did-rules.js'
import { absoluteId, didPart, maxIdLength } from './identifier.js'
import { signatureType } from './model.js'
import { operationRow } from './operations/all-operations.js'
import type { OperationSubject, ParsedOperation } from './operations/operation-row.js'

const txidForm = /^[0-9a-f]{64}$/

/**
 * The text that an operation's proof signs: specification, operation, previousTxid on an update, ticket on a transfer, payload, joined
 * without separators. `legacy` leaves previousTxid out, as tools of 2019 did.
 */
export function signedText(operation: DidOperation, options: { legacy?: boolean } = {}): string {
  const form = operationForm(operation)
  const previous = form?.previousTxid && !options.legacy ? (operation.previousTxid ?? '') : ''
  const ticket = form?.ticket ? (operation.ticket ?? '') : ''
  return operation.specification + operation.operation + previous + ticket + operation.payload
}

/**
 * Checks everything of an operation that needs no state, in this order: names, previousTxid, the form of its proof, payload. Throws a {@link
 * RuleError} with a `did-…`, `json-…`, `document-…` or `credential-…` code.
 */
export function parseOperation(operation: DidOperation, rules: DidRules): ParsedOperation {
  return finish(parseOperationSteps(operation, rules))
}

/** {@link parseOperation} in steps. */
export function* parseOperationSteps(operation: DidOperation, rules: DidRules): Steps<ParsedOperation> {
  const row = operationRow(kindOf(operation, rules))
  previousTxidOf(operation)
  if (operation.proofType !== '' && operation.proofType !== signatureType) {
    throw new RuleError('did-proof-type', `the proof type is neither empty nor ${signatureType}`)
  }
  const signature = decodeSignature(operation.signature)
  if (signature === undefined) throw brokenRule('did-signature-form')
  const key = signingKey(operation, rules)
  const subject = yield* row.parse(operation, rules)
  const signer = key.startsWith('#') ? subject.owner + key : key
  if (!rules.names && (hasName(subject.owner) || hasName(didPart(signer)))) throw brokenRule('did-names')
  const did = isAboutCredential(operation) ? signingDid(subject, signer) : subject.owner
  yield
  // After the payload is checked: before, it may be megabytes.
  return { ...subject, did, signer, message: fromUtf8(signedText(operation)), signature }
}

/** The DID in whose name a credential is declared or revoked. A controller declares in that of the holder. */
function signingDid({ kind, owner }: OperationSubject, signer: string): string {
  return operationForms[kind].inNameOf === 'holder' && hasName(owner) ? owner : didPart(signer)
}

function kindOf({ operation, specification }: DidOperation, { specifications }: DidRules): OperationName {
  if (!isOperationName(operation)) {
    throw new RuleError('did-operation-unknown', `no operation is called ${JSON.stringify(operation.slice(0, 40))}`)
  }
  const accepted: readonly string[] = specifications[operationForms[operation].subject]
  if (accepted.length === 0 && operationForms[operation].subject === 'credential') {
    throw new RuleError('did-credential-operation', `this chain has no credential operations, so no ${operation}`)
  }
  if (!accepted.includes(specification)) {
    throw new RuleError(
      'did-specification',
      `specification ${JSON.stringify(specification.slice(0, 80))}: this chain accepts ${accepted.join(', ')}`,
    )
  }
  return operation
}

/** The previousTxid of an update; undefined for other operations, which must have none. Else throws `did-previous-form`. */
export function previousTxidOf(operation: DidOperation): string | undefined {
  const { previousTxid } = operation
  if (operationForm(operation)?.previousTxid ? txidForm.test(previousTxid ?? '') : previousTxid === undefined)
    return previousTxid
  throw brokenPageRule('did-previous-form')
}

/** The id of the signing key as it stands: absolute, or `#fragment` of the owner. It may belong to any DID here. */
function signingKey({ verificationMethod }: DidOperation, rules: DidRules): string {
  const id = verificationMethod.length > maxIdLength ? undefined : absoluteId(verificationMethod, '', idRules(rules))
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
  const header = members(top.get('header'), 'header', ['specification', 'operation', 'previousTxid', 'ticket'])
  const proof = members(top.get('proof'), 'proof', ['type', 'verificationMethod', 'signature'])
  const operation = textMember(header, 'header', 'operation')
  const form = operationForm({ operation })
  const [hasPrevious, hasTicket] = [form?.previousTxid === true, form?.ticket === true]
  if (header.has('previousTxid') !== hasPrevious) {
    throw new RuleError('did-operation-form', 'header.previousTxid must stand on an update and on nothing else')
  }
  if (header.has('ticket') !== hasTicket) {
    throw new RuleError('did-operation-form', 'header.ticket must stand on a transfer and on nothing else')
  }
  return {
    specification: textMember(header, 'header', 'specification'),
    operation,
    ...(hasPrevious ? { previousTxid: textMember(header, 'header', 'previousTxid') } : {}),
    ...(hasTicket ? { ticket: textMember(header, 'header', 'ticket') } : {}),
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
