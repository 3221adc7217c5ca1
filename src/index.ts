/**
 * The library: a node in the caller's process, resolvers, and the bytes of the chain, DID documents and their proofs, which
 * need no node, no clock and no network. Keys and transactions are in `didledger/wallet`.
 */
export type { Code } from './errors/error-codes.js'
export { codes } from './library/codes.js'
export { RuleError, UserError } from './errors/rule-error.js'
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
} from './library/verify-documents.js'
export { createNode } from './library/create-node.js'
export type * from './library/node-types.js'
export type { Neighbor } from './network/peers/neighbor.js'
export type { SyncProgress } from './network/sync/sync-progress.js'
export { HttpResolver, type HttpResolverOptions } from './client/http-resolver.js'
export type * from './library/did-resolver-types.js'
export { type DidSource, getResolver, type GetResolverOptions } from './library/get-resolver.js'
export type * from './did/resolution.js'
export type * from './did/state-proof.js'
