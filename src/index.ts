/**
 * The library: bytes of the chain, DID documents and their proofs. Everything here works without a node, a clock or a
 * network.
 */
export { type Code, codes, RuleError } from './errors.js'
export { Block } from './primitives/block.js'
export { Transaction } from './primitives/transaction.js'
export type { TransactionJson } from './primitives/transaction-json.js'
export { addressFromPublicKey, didFromPublicKey } from './primitives/address.js'
export {
  canonicalDocument,
  type ControlledOptions,
  type JsonInput,
  type MethodOptions,
  type Verdict,
  verifyCredential,
  verifyDocument,
  verifyOperation,
} from './library/verify.js'
