/**
 * The entry `didledger/verify`: documents, credentials and operations held against their proofs, for programs and web pages without
 * a node.
 */
export type { Code } from '../../base/errors/error-codes.js'
export { RuleError, UserError } from '../../base/errors/rule-error.js'
export {
  canonicalCredential,
  canonicalDocument,
  type ControlledOptions,
  type JsonInput,
  type MethodOptions,
  type Verdict,
  verifyCredential,
  verifyDocument,
  type OperationOptions,
  type OperationVerdict,
  verifyOperation,
} from './verify-documents.js'
export type { UncheckedPart } from './named-operation.js'
export {
  checkCredential,
  type CheckedCredential,
  type CheckOptions,
  type CredentialCheck,
  type CredentialReport,
} from '../../clients/verifier/check-credential.js'
export {
  checkPresentation,
  type PresentationCheck,
  type PresentationOptions,
  type PresentationReport,
} from '../../clients/verifier/check-presentation.js'
export { checkDomain, type DomainReport, type LinkedDid } from '../../clients/verifier/check-domain.js'
export type { CredentialSource } from '../../clients/verifier/credential-source.js'
export type { Check } from '../../clients/verifier/report.js'
export type { CredentialFormat } from '../../identity/credentials/signed-credential.js'
export { statusOf } from '../../identity/credentials/credential-status.js'
