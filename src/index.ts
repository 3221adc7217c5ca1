/**
 * The library: a node in the caller's process, resolvers, and the bytes of the chain, DID documents and their proofs, which
 * need no node, no clock and no network. Keys and transactions are in `didledger/wallet`.
 */
export type { Code } from './base/errors/error-codes.js'
export { codes } from './node/library/codes.js'
export { RuleError, UserError } from './base/errors/rule-error.js'
export { Block } from './base/primitives/block.js'
export { Transaction } from './base/primitives/transaction.js'
export type { TransactionJson } from './base/primitives/transaction-json.js'
export { addressFromPublicKey, didFromPublicKey } from './base/primitives/address.js'
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
} from './node/library/verify-documents.js'
export type { UncheckedPart } from './node/library/named-operation.js'
export { checkCredential, type CheckOptions, type CredentialReport } from './clients/verifier/check-credential.js'
export {
  checkPresentation,
  type PresentationOptions,
  type PresentationReport,
} from './clients/verifier/check-presentation.js'
export type { CredentialSource } from './clients/verifier/credential-source.js'
export { createNode } from './node/library/create-node.js'
export type * from './node/library/node-types.js'
export type { Neighbor } from './network/peers/neighbor.js'
export type { SyncProgress } from './network/sync/sync-progress.js'
export { HttpResolver, type HttpResolverOptions } from './clients/client/http-resolver.js'
export type * from './node/library/did-resolver-types.js'
export { type DidSource, getResolver, type GetResolverOptions } from './node/library/get-resolver.js'
export type * from './identity/did/resolution.js'
export { watchDids } from './clients/watch/watch-dids.js'
export type { WatchNotice, WatchOptions } from './clients/watch/watch-options.js'
export type * from './clients/watch/watch-message.js'
export type { ChangedPart } from './clients/watch/changed-parts.js'
export { verifyWebhook } from './clients/watch/webhook-signature.js'
export type * from './identity/did/state-proof.js'
