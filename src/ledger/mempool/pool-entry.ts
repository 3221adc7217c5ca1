import type { ConnectedOperation, ConnectedTransaction } from '../consensus/connect.js'
import type { SignatureWork } from '../consensus/signature-work.js'
import { defined } from '../../base/primitives/defined.js'
import type { Transaction } from '../../base/primitives/transaction.js'

/** A transaction in the pool. */
export interface PoolEntry {
  readonly transaction: Transaction
  readonly fee: bigint
  /** Milliseconds since the Unix epoch. */
  readonly arrival: number
  /** Work of its signatures. */
  readonly work: SignatureWork
  readonly did?: PoolOperation
}

/** The operation of a pooled transaction. */
export interface PoolOperation extends Pick<ConnectedOperation, 'id' | 'state' | 'credential' | 'issuerKeys'> {
  /** Bytes of the previous document of its DID, if that was read. */
  readonly ownBytes: number
}

/** Lookups in the pool that decide which entries a newcomer replaces. */
export interface PoolIndex {
  /** Pending operations of a DID in order of application. */
  operations(did: string): readonly PoolEntry[]
  /** The one transaction of a subject, as its type policy names it. */
  ofSubject(subject: string): PoolEntry | undefined
  /** The given entries and their descendants, in order of arrival. */
  withDescendants(entries: readonly PoolEntry[]): readonly PoolEntry[]
}

/** The pool entry of a transaction that was evaluated. */
export function entryOf(
  transaction: Transaction,
  { fee, work, did }: ConnectedTransaction,
  arrival: number,
): PoolEntry {
  const entry = { transaction, fee, arrival, work }
  if (did === undefined) return entry
  const { id, state, credential, reads, issuerKeys } = did
  const ownBytes = reads.find(({ issuer }) => !issuer)?.payloadSize ?? 0
  return { ...entry, did: { id, state, issuerKeys, ownBytes, ...defined({ credential }) } }
}
