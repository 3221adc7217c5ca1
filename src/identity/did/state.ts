import type { OperationName } from '../../base/primitives/did-operation.js'
import type { SignatureCheck } from '../../base/primitives/signature.js'
import type { DidRules } from './did-rules.js'
import type { KnownDocument } from './known-document.js'
import type { DidDocument } from './model.js'

/**
 * State of one DID on the chain. Expiry depends on the time and is no part of it. Reading size and document may cost a database
 * read; all else is in memory.
 */
export interface DidState {
  readonly status: 'valid' | 'deactivated'
  /** Number of operations of the DID so far. */
  readonly operationCount: number
  /** Display hex of the last create, update or deactivate. */
  readonly lastTxid: string
  /** Display hex of the last create or update. */
  readonly documentTxid: string
  /** Bytes of the decoded payload that holds the document. */
  readonly documentPayloadSize: number
  readonly document: KnownDocument
}

/** Context of an operation: the rules of the chain and its transaction. */
export interface DidContext extends DidRules {
  /** Display hex of the transaction that carries the operation. */
  readonly txid: string
  /** Unix seconds of the block before: who signs for another DID must not have expired then. */
  readonly time: number
  /** The last state of another DID, earlier transactions of the same block included. */
  issuer(did: string): DidState | undefined
  /** Returns the state of a credential by the DID of the operation; undefined without one. */
  credential(id: string, signer: string): CredentialState | undefined
  /** The same for another DID. */
  otherCredential(id: string, signer: string): CredentialState | undefined
  /** Called with each document before it is read; throws when it exceeds a limit. */
  reading?(document: ReadDocument): void
}

/** A document that an operation needs, cached or not; the caller limits them for a block. */
export interface ReadDocument {
  /** Display hex of the transaction that holds it, which may be one of the same block. */
  readonly txid: string
  /** Bytes of its decoded payload. */
  readonly payloadSize: number
  /** Read for a credential that its DID issued; else it is the own previous document of an update or deactivate. */
  readonly issuer: boolean
}

/**
 * A fact of another DID on which an operation rests: a key in the last document of the issuer of a credential, or of a controller. Any
 * such DID has to be valid.
 */
export interface IssuerKey {
  readonly issuer: string
  /** Absolute id of a credential that it issued; undefined: it is a controller. */
  readonly credential?: string
  /** Absolute id of the key; a DID: it is a controller of the issuer; empty: nothing but that the DID is valid. */
  readonly id: string
  /** 33 bytes, as `mapKey` writes them; empty where no key counts. */
  readonly key: string
  /** Bytes of the decoded payload that holds the document; undefined: it is not read. */
  readonly payloadSize?: number
  /** Unix seconds at which the operation ends to hold, as the document of a controller expires. */
  readonly expiresAt?: number
}

/** State of one credential by one DID on the chain: at least one of the two. */
export interface CredentialState {
  /** The declare; its issuer costs a database read. */
  readonly declared?: { issuer(): string }
  readonly revoked: boolean
}

/** Change of a credential by an operation. */
export interface CredentialChange {
  /** Absolute. */
  readonly id: string
  /** The DID in whose name it is made. */
  readonly signer: string
  readonly action: OperationName
  /** Issuer of the credential that it declares; undefined: it revokes one. */
  readonly issuer?: string
}

/** The state of a credential after a change. */
export function nextCredentialState(before: CredentialState | undefined, change: CredentialChange): CredentialState {
  const { issuer } = change
  if (issuer === undefined) return { ...before, revoked: true }
  return { declared: { issuer: () => issuer }, revoked: false }
}

export interface AppliedOperation {
  /** The state of its DID; a declare or revoke leaves it as it was. */
  readonly next: DidState
  /** Change by a declare or revoke. */
  readonly credential?: CredentialChange
  /** Whether a leaf for that credential and this DID is added to the map of committed state. */
  readonly newLeaf?: boolean
  /** Length of the name that it takes for its DID. */
  readonly nameLength?: number
  /** All must hold, else the operation is refused with the code of the failed one. */
  readonly checks: readonly SignatureCheck[]
  /** Signature cost: 2, 1 for each proof of a document, ticket or credential beyond the first, and 1 for four controllers looked up. */
  readonly cost: number
  /** The own previous document, then those of the issuers of new foreign credentials, each once. */
  readonly reads: readonly ReadDocument[]
  /** Keys of the last documents of other DIDs that its checks use, each once; of other DIDs nothing else counts but status and size. */
  readonly issuerKeys: readonly IssuerKey[]
  /** Document that the operation puts on the chain; undefined for a deactivate, declare or revoke. */
  readonly document?: DidDocument
}
