import type { DidState } from '../did/state.js'
import type { Transaction } from '../primitives/transaction.js'

/** A transaction in the pool. */
export interface PoolEntry {
  readonly transaction: Transaction
  readonly fee: bigint
  /** Milliseconds since the Unix epoch. */
  readonly arrival: number
  /** Signature cost. */
  readonly cost: number
  /** The DID of its operation, the state after it, and the issuers of its credentials. */
  readonly did?: { readonly id: string; readonly state: DidState; readonly issuers: readonly string[] }
}

/** Lookups in the pool that decide what a newcomer replaces. */
export interface PoolIndex {
  /** Pending operations of a DID in order of application. */
  operations(did: string): readonly PoolEntry[]
  /** The one transaction of a subject, as its type policy names it. */
  ofSubject(subject: string): PoolEntry | undefined
  /** The given entries and their descendants, in order of arrival. */
  withDescendants(entries: readonly PoolEntry[]): readonly PoolEntry[]
}
