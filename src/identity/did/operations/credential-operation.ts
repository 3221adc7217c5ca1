import { documentJsonLimits } from '../document.js'
import { RuleError } from '../../../base/errors/rule-error.js'
import { utf8 } from '../../../base/primitives/bytes.js'
import type { SignatureCheck } from '../../../base/primitives/signature.js'
import { operationForms } from '../../../base/primitives/did-operation.js'
import { finish, type Steps } from '../../../base/primitives/steps.js'
import { parseStrictJson } from '../../../base/primitives/strict-json.js'
import { parseCredential } from '../credential.js'
import { absoluteId, didPart, type IdRules } from '../identifier.js'
import type { KnownDocument } from '../known-document.js'
import { asObject, requiredText } from '../member-readers.js'
import type { Credential } from '../model.js'
import type { AppliedOperation, CredentialChange, CredentialState, DidState } from '../state.js'
import type { DocumentReads } from './document-reads.js'
import type { ParsedAs } from './operation-row.js'
import { signingKeyOfKnown } from './controllers.js'
import { checkByLast, operationCheck, operationCost, requireValid } from './signing.js'

/**
 * Common code of declare and revoke. Both act on a credential in the name of the DID that signs, and leave that DID as it is: head, last
 * txid and operation count.
 */

/** The credential in the bytes of a payload, whose id is absolute; it is read as one in a document of its holder. */
export function credentialOfBytes(bytes: Uint8Array, rules: IdRules): Credential {
  return finish(credentialBytesSteps(bytes, rules))
}

/** {@link credentialOfBytes} in steps: reading the JSON, and the credential in it with its canonical text, take milliseconds each. */
export function* credentialBytesSteps(bytes: Uint8Array, rules: IdRules): Steps<Credential> {
  const text = utf8(bytes)
  if (text === undefined) throw new RuleError('json-utf8', 'the credential is not valid UTF-8')
  const value = parseStrictJson(text, documentJsonLimits)
  yield
  const id = requiredText(asObject(value, 'the credential'), 'id', '')
  if (!isCredentialId(id, rules)) {
    throw new RuleError('document-id', `id is not did:${rules.method}:<identifier>#<fragment>: ${id.slice(0, 200)}`)
  }
  return parseCredential(value, '', rules, didPart(id))
}

/** Whether a text is an absolute id: a DID with a fragment. */
export function isCredentialId(text: string, rules: IdRules): boolean {
  return !text.startsWith('#') && absoluteId(text, '', rules) !== undefined
}

/** A signer that exists, with its last document, and the check of its signature. */
export interface Signer {
  readonly state: DidState
  readonly document: KnownDocument
  readonly check: SignatureCheck
}

/** The DID that signs, with its last document; `did-unknown`, `did-deactivated` or `did-signer` when it may not. */
export function signerOf(
  before: DidState | undefined,
  operation: ParsedAs<'declare' | 'revoke'>,
  reads: DocumentReads,
): Signer {
  const { did } = operation
  const state = requireValid(before, did)
  const document = reads.own(state, did)
  const isControlled = operationForms[operation.kind].inNameOf === 'holder' && document.control !== undefined
  if (!isControlled) return { state, document, check: checkByLast(operation, document) }
  const listed = `authentication of ${did} or of a controller`
  return {
    state,
    document,
    check: operationCheck(operation, signingKeyOfKnown(operation.signer, document, reads), listed),
  }
}

/** An operation that the state of its credential permits; `before`: the state of the credential by its DID so far. */
export function withCredential(
  { state, check }: Signer,
  { before, change }: { readonly before: CredentialState | undefined; readonly change: CredentialChange },
  reads: DocumentReads,
  checks: readonly SignatureCheck[] = [],
): AppliedOperation {
  return {
    next: state,
    credential: change,
    newLeaf: before === undefined,
    checks: [check, ...checks],
    cost: operationCost,
    reads: reads.documents,
    issuerKeys: reads.issuerKeys,
  }
}

export function refuseRevoked(id: string, by: string): never {
  throw new RuleError('credential-revoked', `${id} is revoked by ${by}, which is final`)
}
