import { verify } from '../../base/crypto/verify.js'
import { keyThatSigned } from '../../clients/verifier/signature.js'
import { readSignedCredential } from '../../identity/credentials/read-credential.js'
import { decodeBase64url, decodeSignature } from '../../identity/did/base64url.js'
import { documentText } from '../../identity/did/canonical.js'
import { parseCredential } from '../../identity/did/credential.js'
import { documentJsonLimits, parseDocument } from '../../identity/did/document.js'
import { absoluteId, didPart } from '../../identity/did/identifier.js'
import { type LibraryRules, parseLibraryDocument } from '../../identity/did/library-document.js'
import { type DidDocument, type DidKey, signatureType } from '../../identity/did/model.js'
import { namedCredential, namedDid } from '../../identity/did/named-did.js'
import { previousTxidOf, readOperationJson, signedText } from '../../identity/did/operation.js'
import { isCredentialId } from '../../identity/did/operations/credential-operation.js'
import { fromPlain } from '../../identity/did/plain-json.js'
import { brokenPageRule } from '../../base/errors/broken-rule.js'
import { fromUtf8, utf8 } from '../../base/primitives/bytes.js'
import { defined } from '../../base/primitives/defined.js'
import { hasName } from '../../base/primitives/did-name.js'
import { type DidOperation, effectOf, operationForm } from '../../base/primitives/did-operation.js'
import { requireMembers } from '../../base/primitives/known-members.js'
import { type JsonValue, parseStrictJson } from '../../base/primitives/strict-json.js'
import { checkNamed, type NamedOperation, type UncheckedPart } from './named-operation.js'

/** JSON text, or the plain object that JSON.parse makes of it. */
export type JsonInput = string | object

/** The result of a verification, with the reason if it failed. */
export interface Verdict {
  readonly valid: boolean
  readonly reason?: string
}

export interface MethodOptions {
  /** The DID method name, for example `ledger`. */
  readonly method: string
}

export interface ControlledOptions extends MethodOptions {
  /** Documents of the controllers that the document or the issuer's document names. They are trusted, not verified. */
  readonly controllers?: readonly JsonInput[]
}

/**
 * The text that the proof of a document signs: the document in normalised form and Unicode NFC, without its proof. Throws a
 * {@link RuleError} with the reason for anything that is no DID document.
 */
export function canonicalDocument(document: JsonInput, options: MethodOptions): string {
  return readDocument(document, options).signingText
}

/**
 * Verifies the proof of a document: one by its default key, or, for a chosen name, as many distinct ones as `multisig` requires
 * by default keys of its controllers. The proofs of the credentials inside are for {@link verifyCredential}. Expiry is not
 * checked. Never throws.
 */
export function verifyDocument(document: JsonInput, options: ControlledOptions): Verdict {
  return verdict(() => {
    const read = readDocument(document, options)
    const controllers = readAll(options)
    const [first, ...others] = read.proofs
    if (first === undefined) throw new Failure('the document carries no proof')
    if (read.defaultKey !== undefined && others.length > 0) throw new Failure('the document carries several proofs')
    for (const proof of read.proofs) {
      const key = read.defaultKey ?? controllerKey(read, proof.creator, controllers)
      if (key.id !== proof.creator)
        throw new Failure(`the proof is by ${proof.creator}, not by the default key ${key.id}`)
      requireSignature(key, read.signingText, proof.signature, `the proof by ${proof.creator}`)
    }
    const signers = new Set(read.proofs.map((proof) => proof.creator)).size
    const needed = Number(read.multisig?.split(':')[0] ?? 1)
    if (signers < needed) throw new Failure(`proofs by ${signers} controllers, but ${needed} are needed`)
  })
}

/** The default key of the controller that made a proof. */
function controllerKey(document: DidDocument, creator: string, controllers: readonly DidDocument[]): DidKey {
  const controller = controllerOf(document, didPart(creator), controllers)
  if (controller.defaultKey === undefined) throw new Failure(`${controller.id} has no default key`)
  return controller.defaultKey
}

function controllerOf(document: DidDocument, did: string, controllers: readonly DidDocument[]): DidDocument {
  if (!document.controllers.includes(did)) throw new Failure(`${did} is not a controller of ${document.id}`)
  const controller = controllers.find((candidate) => candidate.id === did)
  if (controller === undefined) throw new Failure(`the document of the controller ${did} was not given`)
  return controller
}

/**
 * Verifies the proof of a credential, JSON or the text of a JWT, under an authentication key of its issuer, or for JSON of a controller of the
 * issuer. The issuer's document is trusted; dates and status are for `checkCredential`. Never throws.
 */
export function verifyCredential(
  credential: JsonInput,
  issuerDocument: JsonInput,
  options: ControlledOptions,
): Verdict {
  return verdict(() => {
    const read = readSignedCredential(credential, documentRules(options))
    const issuer = readDocument(issuerDocument, options)
    if (read.issuer !== issuer.id) throw new Failure(`the issuer is ${read.issuer}, but the document is ${issuer.id}`)
    const did = read.key === undefined ? issuer.id : didPart(read.key)
    keyThatSigned(did === issuer.id ? issuer : controllerOf(issuer, did, readAll(options)), read)
  })
}

/**
 * The text that the proof of a credential signs: the credential in normalised form and Unicode NFC, without its proof. Throws a
 * {@link RuleError} with the reason for anything that is no credential.
 */
export function canonicalCredential(credential: JsonInput, options: MethodOptions): string {
  return parseCredential(fromPlain(credential), '', documentRules(options), undefined).signingText
}

export interface OperationOptions extends MethodOptions {
  readonly legacy?: boolean
  /**
   * Documents of the controllers of a DID with a name, as they are now: for signatures of an operation by other keys than the default one
   * of a controller. They are trusted, not verified.
   */
  readonly controllers?: readonly JsonInput[]
}

/** The result for an operation; one of a DID with a name holds only if every part of it was checked. */
export interface OperationVerdict extends Verdict {
  /** Parts of an operation of a DID with a name that could not be checked without further documents. */
  readonly unchecked?: readonly UncheckedPart[]
}

/**
 * Verifies the proof of an operation `{header, payload, proof}` and the right of its key to sign: for a create by the document in
 * the payload, for update and deactivate by `document`, the one before, for declare and revoke by that of the DID that signs. A
 * create's `document` may be left out. Of a DID with a name m of n controllers are held against the proofs of the document in the
 * payload, and for a transfer those before against the ticket; `unchecked` says what a document that was not given left open. Not
 * checked: the proof of the document of a DID of a key, of credentials inside, the state of the DID, its controllers and credential,
 * specification strings. `legacy` reads samples of 2019: previousTxid unsigned, identifiers with trailer 0xAC, signatures in padded
 * base64. Never throws.
 */
export function verifyOperation(
  operation: JsonInput,
  document: JsonInput | undefined,
  options: OperationOptions,
): OperationVerdict {
  let unchecked: readonly UncheckedPart[] = []
  const result = verdict(() => {
    const rules = operationRules(options)
    const read = readOperationJson(typeof operation === 'string' ? operation : (JSON.stringify(operation) ?? ''))
    previousTxidOf(read)
    if (read.proofType !== '' && read.proofType !== signatureType) throw brokenPageRule('did-proof-type')
    if (isNamed(read, rules.method)) {
      unchecked = checkNamed(namedOperation(read, document, options))
      if (unchecked.length > 0) throw new Failure(uncheckedText(unchecked, read))
      return
    }
    const by = entitlingDocument(read, document, rules)
    const id = absoluteId(read.verificationMethod, by.id, rules)
    const authorised = operationForm(read)?.authorised === true
    const key = by.authentication.get(id ?? '') ?? (authorised ? by.authorization.get(id ?? '') : undefined)
    if (key === undefined) throw new Failure(`${read.verificationMethod} may not sign this operation for ${by.id}`)
    requireSignature(key, signedText(read, options), signatureOf(read, options), 'the proof of the operation')
  })
  return unchecked.length === 0 ? result : { ...result, unchecked }
}

function signatureOf({ signature: text }: DidOperation, { legacy }: OperationOptions): Uint8Array {
  const signature = decodeSignature(legacy ? withoutPadding(text) : text)
  if (signature === undefined) throw brokenPageRule('did-signature-form')
  return signature
}

/** Whether an operation is one of a DID with a name, or in the name of one. */
function isNamed(operation: DidOperation, method: string): boolean {
  const did = namedCredential(operation)?.signer ?? namedDid(operation)
  return did?.startsWith(`did:${method}:`) === true && hasName(did)
}

function namedOperation(
  operation: DidOperation,
  given: JsonInput | undefined,
  options: OperationOptions,
): NamedOperation {
  const { method } = options
  const rules = { method, chain: true, names: true } as const
  const form = operationForm(operation)
  const before = given === undefined ? undefined : readDocument(given, { method })
  const hasDocument = form?.subject === 'did' && form.payload === 'document'
  const document = hasDocument ? parseDocument(fromPlain(payloadJson(operation)), rules) : undefined
  if (form?.subject === 'credential') signersDocument(operation, before, { method, chain: false })
  const did = document?.id ?? namedCredential(operation)?.signer ?? operation.payload
  if (before !== undefined && before.id !== did) throw new Failure(`the operation is not about ${before.id}`)
  if (form?.after.includes('nothing') === true && document !== undefined && before !== undefined) {
    requireGiven(before, document)
  }
  return {
    operation,
    text: signedText(operation),
    signature: signatureOf(operation, options),
    signer: absoluteId(operation.verificationMethod, didPart(namedCredential(operation)?.id ?? did), rules) ?? '',
    document,
    before,
    controllers: readAll({ method, ...defined({ controllers: options.controllers }) }),
    method,
  }
}

function uncheckedText(unchecked: readonly UncheckedPart[], { verificationMethod }: DidOperation): string {
  const texts: Readonly<Record<UncheckedPart, string>> = {
    controllers: 'who controls the DID was not checked: the document before the operation is needed',
    signature: `the signature of the operation was not checked: the document of ${didPart(verificationMethod).slice(0, 200)} is needed in controllers, as it is now`,
  }
  return unchecked.map((part) => texts[part]).join('; ')
}

/** The document whose keys may sign the operation, once the payload is known to concern the same DID. */
function entitlingDocument(operation: DidOperation, document: JsonInput | undefined, rules: LibraryRules): DidDocument {
  const given = document === undefined ? undefined : parseLibraryDocument(fromPlain(document), rules)
  const form = operationForm(operation)
  if (form?.signedIn === 'payload') {
    const created = parseLibraryDocument(fromPlain(payloadJson(operation)), rules)
    if (given !== undefined) requireGiven(given, created)
    return created
  }
  if (form === undefined) throw new Failure(`there is no operation ${operation.operation}`)
  if (form.subject === 'credential') return signersDocument(operation, given, rules)
  if (given === undefined) throw new Failure('the document before the operation is needed')
  const did = form.payload === 'document' ? payloadDid(operation) : operation.payload
  if (did !== given.id) throw new Failure(`the operation is not about ${given.id}`)
  return given
}

function requireGiven(given: DidDocument, own: DidDocument): void {
  if (documentText(given) === documentText(own)) return
  throw new Failure('the document given is not the one in the payload')
}

/** The document of the DID in whose name a credential is declared or revoked. */
function signersDocument(operation: DidOperation, given: DidDocument | undefined, rules: LibraryRules): DidDocument {
  const named = namedCredential(operation)
  if (named === undefined) throw new Failure('the payload names no credential')
  if (given === undefined) throw new Failure('the document of the signer is needed')
  if (named.signer !== given.id) throw new Failure(`the operation is one of ${named.signer}, not of ${given.id}`)
  const holder = didPart(named.id)
  if (effectOf(operation) === 'credential' && named.signer !== holder) {
    throw new Failure(`only the holder ${holder} can declare ${named.id}`)
  }
  if (isCredentialId(named.id, { ...rules, chain: true, names: true })) return given
  throw new Failure(`${named.id.slice(0, 200)} is no id of a credential`)
}

function payloadJson({ payload }: DidOperation): string {
  const bytes = decodeBase64url(payload)
  if (bytes === undefined) throw brokenPageRule('did-payload-encoding')
  const text = utf8(bytes)
  if (text === undefined) throw brokenPageRule('json-utf8')
  return text
}

/** The id inside an update's payload, which need not be a valid document otherwise. */
function payloadDid(operation: DidOperation): JsonValue | undefined {
  const value = parseStrictJson(payloadJson(operation), documentJsonLimits)
  return value instanceof Map ? value.get('id') : undefined
}

function withoutPadding(base64: string): string {
  return base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

function documentRules(options: ControlledOptions): LibraryRules {
  requireMembers('the verification', options, { method: 'text', controllers: 'list' }, ['method'])
  return { method: options.method, chain: false }
}

function operationRules(options: OperationOptions): LibraryRules {
  requireMembers('the verification', options, { method: 'text', legacy: 'flag', controllers: 'list' }, ['method'])
  const { method, legacy } = options
  return { method, chain: false, ...(legacy ? { legacy } : {}) }
}

function readDocument(document: JsonInput, options: ControlledOptions): DidDocument {
  return parseLibraryDocument(fromPlain(document), documentRules(options))
}

function readAll(options: ControlledOptions): DidDocument[] {
  return (options.controllers ?? []).map((controller) => readDocument(controller, options))
}

function requireSignature(key: DidKey, text: string, signature: Uint8Array, what: string): void {
  if (!verify(key.publicKey, fromUtf8(text), signature)) throw new Failure(`${what} does not verify under ${key.id}`)
}

/** A verification that failed although all input was readable. */
class Failure extends Error {}

function verdict(check: () => void): Verdict {
  try {
    check()
    return { valid: true }
  } catch (error) {
    return { valid: false, reason: error instanceof Error ? error.message : String(error) }
  }
}
