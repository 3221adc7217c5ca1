/**
 * The entry `didledger/verify`: documents, credentials and operations held against their proofs, for programs and web pages without
 * a node.
 */
export type { Code } from '../../base/errors/error-codes.js'
export { RuleError, UserError } from '../../base/errors/rule-error.js'
export {
  canonicalDocument,
  type ControlledOptions,
  type JsonInput,
  type MethodOptions,
  type Verdict,
  verifyCredential,
  verifyDocument,
  verifyOperation,
} from './verify-documents.js'
