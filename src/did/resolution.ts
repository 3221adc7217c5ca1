import type { DidOperationJson } from '../primitives/did-operation.js'

/** Answers of a resolver, written by a node and read by a client. */

/** One operation of a DID with the transaction that carries it. */
export interface ResolvedTransaction {
  /** Display hex. */
  readonly txid: string
  /** The block's time: RFC 3339, UTC, whole seconds. */
  readonly timestamp: string
  readonly operation: DidOperationJson
}

/**
 * The answer about a credential: status 0 declared, 1 declared and expired, 2 revoked, 3 nothing that counts is on the chain.
 */
export interface CredentialResult {
  /** Absolute. */
  readonly id: string
  readonly status: 0 | 1 | 2 | 3
  /** The revoke, if any, and the declare, if any; absent with status 3. */
  readonly transaction?: readonly ResolvedTransaction[]
}

/** Ids of credentials that a DID declared, oldest declare first; those revoked since stay listed. */
export interface CredentialList {
  /** In full. */
  readonly did: string
  readonly credentials: readonly string[]
}

/** A search. Exactly one of the first three members is given. */
export interface DocumentQuery {
  /** The type of a service. */
  readonly service?: string
  /** The type of a credential. */
  readonly credential?: string
  /** A condition: JSON or JSON5 text, or an object. */
  readonly query?: string | object
  /** Matching documents to leave out before the first one that is returned; the default is 0. */
  readonly skip?: number
  /** Documents to return at most: 0 only counts; lowered to the maximum of the node. */
  readonly limit?: number
}

/** Answer to a search: documents from `start` on of all that match, as they stand on the chain, normalised. */
export interface QueryResult {
  /** Documents that match. */
  readonly total: number
  /** Matching documents before the first one here; 0 when none match. */
  readonly start: number
  /** Documents here. */
  readonly count: number
  /** In the order in which their DIDs were created. */
  readonly document: readonly Readonly<Record<string, unknown>>[]
}

/** The answer about a DID: status 0 valid, 1 expired, 2 deactivated, 3 does not exist. */
export interface ResolveResult {
  /** The full DID, also where the request gave only its identifier. */
  readonly did: string
  readonly status: 0 | 1 | 2 | 3
  /** Newest first; absent exactly when the DID does not exist. */
  readonly transaction?: readonly ResolvedTransaction[]
}
