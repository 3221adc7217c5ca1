import type { DidOperationJson } from '../primitives/operation.js'

/** The answer of a resolver, which a node gives and a client reads. */

/** One operation of a DID with the transaction that carries it. */
export interface ResolvedTransaction {
  /** Display hex. */
  readonly txid: string
  /** The block's time: RFC 3339, UTC, whole seconds. */
  readonly timestamp: string
  readonly operation: DidOperationJson
}

/** The answer about a DID: status 0 valid, 1 expired, 2 deactivated, 3 does not exist. */
export interface ResolveResult {
  /** The full DID, also where only its identifier was asked for. */
  readonly did: string
  readonly status: 0 | 1 | 2 | 3
  /** Newest first; absent exactly when the DID does not exist. */
  readonly transaction?: readonly ResolvedTransaction[]
}
