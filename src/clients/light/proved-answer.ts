import type { CredentialResult, ResolveResult } from '../../identity/did/resolution.js'

/** Answers of a light resolver, with their evidence. */

/** Evidence of an answer. */
export interface Proved {
  /** The block that the answer is as of; its hash in display hex, its time and age in seconds. */
  readonly height: number
  readonly hash: string
  readonly time: number
  readonly age: number
  /** Those whose answers hold. */
  readonly servers: readonly string[]
  /** Names of the witnesses who cosigned the block, where some are needed. */
  readonly witnesses?: readonly string[]
  /** The trust root was older than the trust period. */
  readonly oldRoot?: true
  /** The status is not proved: it is that of a bundle, or of another given answer, about an earlier version. */
  readonly statusUnproved?: true
  /** Number of operations of the DID, and those that are proved, oldest first. */
  readonly history?: { readonly count: number; readonly entries: readonly ProvedEntry[] }
  /** Each DID whose operations count for a question about a credential, the holder first, and its operations. */
  readonly said?: readonly ProvedSaying[]
}

/** The word of one DID about a credential. */
export interface ProvedSaying {
  /** In full. */
  readonly signer: string
  /** `asked`: neither holder nor declared issuer, but the `issuer` of the question. */
  readonly as: 'holder' | 'issuer' | 'asked'
  /** Oldest first; txids in display hex. */
  readonly operations: readonly string[]
}

/** An operation that is proved; txid in display hex, time in Unix seconds. */
export interface ProvedEntry {
  readonly txid: string
  readonly height: number
  readonly time: number
  /**
   * Id of the key that signed the operation, `#fragment` for a key of the DID itself. Present where its signature was verified with a key of
   * a proved document; absent: the signature was not checked.
   */
  readonly signedBy?: string
}

export type LightResult = ResolveResult & { readonly proved: Proved }
export type LightCredential = CredentialResult & { readonly proved: Proved }
