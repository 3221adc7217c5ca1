import { InvariantError, RuleError } from '../../../base/errors/rule-error.js'
import { fromUtf8, ownText } from '../../../base/primitives/bytes.js'
import type { DidOperation } from '../../../base/primitives/did-operation.js'
import type { SignatureCheck } from '../../../base/primitives/signature.js'
import type { Steps } from '../../../base/primitives/steps.js'
import { type DidRules, idRules } from '../did-rules.js'
import { documentBytesSteps } from '../document.js'
import { entryLimit } from '../entry-limit.js'
import { refuseLater } from '../first-form.js'
import { credentialDigest, knownControl, type KnownDocument, knownDocument } from '../known-document.js'
import type { DidDocument } from '../model.js'
import type { AppliedOperation, DidState } from '../state.js'
import { controllerChecks, signingKeyOf } from './controllers.js'
import type { DocumentReads } from './document-reads.js'
import { credentialCheck } from './issued-credential.js'
import type { ParsedOperation, WithDocument } from './operation-row.js'
import { payloadBytes } from './payload-bytes.js'
import { operationCheck, operationCost } from './signing.js'

/** Common code of operations with a document: a payload that is a document, and the credentials in it. */

/** Reads the document of a payload. */
export function* parseDocumentPayload(
  { payload }: DidOperation,
  rules: DidRules,
): Steps<{ readonly owner: string; readonly document: DidDocument; readonly payloadSize: number }> {
  const bytes = payloadBytes(payload, rules.limits.payloadBytes)
  const limitEntries = entryLimit(rules.limits.entries)
  const form = rules.didCore ? {} : { refuseLater }
  const document = yield* documentBytesSteps(bytes, { ...idRules(rules), limitEntries, ...form })
  // What is kept of an operation names its DID: a substring retains its parent string.
  return { owner: ownText(document.id), document, payloadSize: bytes.length }
}

/** An operation with a document that its DID's state permits. */
export function* withDocument(
  previous: DidState | undefined,
  operation: Extract<ParsedOperation, WithDocument>,
  check: SignatureCheck,
  reads: DocumentReads,
): Steps<AppliedOperation> {
  const { document } = operation
  const credentials = yield* newCredentials(document, previous?.document, reads)
  const proofs = document.controllers.length > 0 ? controllerChecks(document, reads) : [documentCheck(operation)]
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
    checks: [check, ...proofs, ...credentials],
    cost: operationCost + proofs.length - 1 + credentials.length,
    reads: reads.documents,
    issuerKeys: reads.issuerKeys,
    document,
  }
}

/** The check of an operation that a key of its own document signs, or one of a controller that this names. */
export function checkByDocument(
  operation: Extract<ParsedOperation, WithDocument>,
  reads: DocumentReads,
): SignatureCheck {
  const { document, signer } = operation
  const control = knownControl(document)
  const keys = (id: string) => document.authentication.get(id)?.publicKey
  const key = signingKeyOf(signer, { id: document.id, control, keys }, reads)
  const listed = control === undefined ? '' : ', or in that of a controller'
  return operationCheck(operation, key, `authentication of the document${listed}`)
}

function documentCheck({ owner, document }: WithDocument & { readonly owner: string }): SignatureCheck {
  const [proof] = document.proofs
  if (proof === undefined || document.defaultKey === undefined) {
    throw new InvariantError(`the document of ${document.id} was not read by the rules of a chain`)
  }
  return {
    message: fromUtf8(document.signingText),
    keys: [document.defaultKey.publicKey],
    signatures: [proof.signature],
    code: 'document-proof',
    subject: `document proof of ${owner}`,
  }
}

/** Checks of the credentials that the previous document did not contain with identical text. */
function* newCredentials(
  document: DidDocument,
  previous: KnownDocument | undefined,
  reads: DocumentReads,
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
  const keys = (id: string) => document.authentication.get(id)?.publicKey
  const own = { id: document.id, keys, control: knownControl(document) }
  for (const credential of added) {
    const { verificationMethod } = credential.proof
    if (credential.issuer === document.id) {
      checks.push(credentialCheck(credential, signingKeyOf(verificationMethod, own, reads)))
    } else {
      checks.push(credentialCheck(credential, reads.keyOfIssuer(credential)))
    }
    yield
  }
  return checks
}
