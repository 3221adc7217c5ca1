import type { DidOperationJson } from '../../base/primitives/did-operation.js'
import type { ProofOptions, StateProof } from './state-proof.js'

/** Answers of a resolver, written by a node and read by a client. */

/** How old an answer of a node is that is not in step with its chain. */
export interface AnswerAge {
  /** Height of the tip as of which it holds. */
  readonly height: number
  /** Seconds since the time of that tip. */
  readonly age: number
  /** The owner of the node has all questions answered at all times: a DID answered as absent may exist. */
  readonly always?: true
}

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
  /** The revoke, if any, and the declare, if any; absent with status 3. With a proof every operation that it shows, newest first. */
  readonly transaction?: readonly ResolvedTransaction[]
  /** At a client whose node is not in step with its chain. */
  readonly outOfStep?: AnswerAge
  /** Present if the request asks for it. */
  readonly proof?: StateProof
}

/** Options of a request about a credential, beside its id. */
export interface CredentialOptions extends ProofOptions {
  /** A DID, in full or as the identifier alone, whose revocation counts before the credential is declared as well. */
  readonly issuer?: string
}

/** Ids of credentials that a DID declared, oldest declare first; those revoked since stay listed. */
export interface CredentialList {
  /** In full. */
  readonly did: string
  readonly credentials: readonly string[]
}

/** A search. Exactly one of the first three members is present. */
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
  /** Whether the answer names the block as of which it holds. */
  readonly context?: boolean
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
  /** With `context`: the tip as of which the answer holds, its hash in display hex. */
  readonly height?: number
  readonly blockHash?: string
  /** With `context`, of a node that is not in step with its chain. */
  readonly outOfStep?: AnswerAge
}

/** Options of a request about a DID, beside the DID. */
export interface ResolveOptions extends ProofOptions {
  /** Every operation, newest first, instead of the last one. */
  readonly all?: boolean
  /** With `all`: operations to leave out first; 0 with `limit` alone. */
  readonly skip?: number
  /** With `all`: operations to return at most, up to 1000, 0 to count only; 100 with `skip` alone. */
  readonly limit?: number
  /** Whether the answer has its context. */
  readonly context?: boolean
  /** Without `all`, one of three: the version that this transaction made; 64 lowercase hex digits. */
  readonly versionId?: string
  /** The last version of blocks whose time is not later: `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly versionTime?: string
  /** The last version as of the block of this height. */
  readonly versionHeight?: number
}

/** An operation by its transaction, and the time of its block. */
export interface OperationMoment {
  readonly txid: string
  /** RFC 3339, UTC, whole seconds. */
  readonly timestamp: string
}

/** An operation of which a node gave up the transaction, since a later one superseded its document. */
export interface GivenUpOperation extends OperationMoment {
  /** Height of its block. */
  readonly height: number
  readonly operation: string
  /** SHA-256 of its payload as it was published, in hex. */
  readonly payloadHash: string
}

/** Block of an operation on the active chain. */
export interface OperationBlock {
  readonly height: number
  /** Display hex; absent where it is not proved. */
  readonly blockHash?: string
  /** 1 for the tip. */
  readonly confirmations: number
}

/** Place of an answer about a DID on the chain. Members about a version are those of the first transaction shown. */
export interface ResolveContext {
  /** Height, hash (display hex) and time (Unix seconds) of the tip. */
  readonly height: number
  readonly blockHash: string
  readonly time: number
  /** Number of the DID's operations. */
  readonly count: number
  readonly created: OperationMoment
  /** The last update up to the version; absent without one. */
  readonly updated?: OperationMoment
  /** The operation after the version; absent where it is the last one. */
  readonly next?: OperationMoment
  /** When the version's document expires; of a deactivation, or without a version, the last document. */
  readonly expires: string
  /** Blocks of the transactions of the answer, in their order. */
  readonly at: readonly OperationBlock[]
}

/** The answer about a DID: status 0 valid, 1 expired, 2 deactivated, 3 does not exist; of now, whatever version is asked for. */
export interface ResolveResult {
  /** The full DID, also where the request gave only its identifier. */
  readonly did: string
  readonly status: 0 | 1 | 2 | 3
  /** Why no key can have the identifier, such as its checksum. Where a context was asked for and the status is 3 therefore. */
  readonly hint?: string
  /** Newest first; empty without the version or beyond the end of the history; absent exactly when the DID does not exist. */
  readonly transaction?: readonly ResolvedTransaction[]
  /** With `all`, of a node that has not all of the operations asked for: the others, newest first, all older than those that it has. */
  readonly givenUp?: readonly GivenUpOperation[]
  /** With `skip` or `limit`: operations of the DID, those left out, and those here, given up ones among them. */
  readonly total?: number
  readonly start?: number
  readonly count?: number
  /** Present where it was asked for and the DID exists. */
  readonly context?: ResolveContext
  /** With `context`, and at a client of HTTP, of a node that is not in step with its chain. */
  readonly outOfStep?: AnswerAge
  /** Present if the request asks for it: the answer is as of the block that it names. */
  readonly proof?: StateProof
}
