import type { Members } from '../did/payload.js'

/** Drawings of a DID and of a credential, whether made of what was proved or of what the node said. */

/** Status. A DID is valid, expired, deactivated or does not exist; a credential is declared, expired, revoked or not declared. */
export type Status = 0 | 1 | 2 | 3

export interface ShownOperation {
  /** Place in the history of a DID, the create being 1; undefined for an operation of a credential. */
  readonly number: number | undefined
  readonly txid: string
  readonly name: string
  /** Unix seconds. */
  readonly time: number | undefined
  readonly height: number | undefined
  /** The key whose signature was verified, or that the node names; undefined: not checked, or not named. */
  readonly signer: string | undefined
  /** Whether the node has its hashes alone. */
  readonly isGivenUp?: boolean
}

export interface DidView {
  /** The DID that was asked for. */
  readonly did: string
  readonly status: Status
  /** Height as of which it holds; undefined if the node did not report it. */
  readonly height: number | undefined
  /** Operations of the DID. */
  readonly count: number
  /** Operations of the part asked for, newest first. */
  readonly operations: readonly ShownOperation[]
  /** The last document, and the Unix second of its block; undefined where there is none that can be read. */
  readonly document: Members | undefined
  readonly written: number | undefined
}

export interface CredentialView {
  /** The id that was asked for. */
  readonly id: string
  readonly status: Status
  /** Newest first. */
  readonly operations: readonly ShownOperation[]
  /** The content of its declare. */
  readonly content: Members | undefined
}

/** A state that time alone has changed since it was learned: what was valid or declared has expired when its date has come. */
export function statusAt(status: Status, expires: number | undefined, now: number): Status {
  return status === 0 && expires !== undefined && expires <= now ? 1 : status
}

/** Differences of another view of the same DID from a proved one, in words; empty: none. */
export function otherThanProved(proved: DidView, other: DidView, nameOf: (status: Status) => string): string[] {
  return [
    other.status !== proved.status && `it ${other.status === 3 ? '' : 'is '}${nameOf(other.status)}`,
    other.count !== proved.count && `it has ${other.count} operations`,
    JSON.stringify(other.document) !== JSON.stringify(proved.document) && 'its document is another one',
  ].filter((text) => text !== false)
}
