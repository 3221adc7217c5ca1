/**
 * Policy of the pool by transaction type: order of selection, replacement, limits of one a subject. Not consensus.
 *
 *   pool -> policyOf(transaction) -> row: first, hasOperation, subject, refuse, follows, replacement
 *
 * - The table is complete by type: a type of payload without a row does not compile.
 */
import { RuleError } from '../../../base/errors/rule-error.js'
import type { Payload } from '../../../base/primitives/payload.js'
import type { Transaction } from '../../../base/primitives/transaction.js'
import type { RowReader } from '../../storage/rows/row-reader.js'
import type { PoolEntry, PoolIndex } from '../pool-entry.js'
import { didPolicy } from './did-policy.js'
import { sideChainPolicy } from './side-chain-policy.js'
import { spendsFrom, type TypePolicy } from './type-policy.js'

const byFee = {}

const policies: { readonly [T in Payload['type']]: TypePolicy<Extract<Payload, { type: T }>> } = {
  0: byFee,
  1: byFee,
  2: byFee,
  3: byFee,
  5: sideChainPolicy,
  6: byFee,
  7: byFee,
  8: byFee,
  10: didPolicy,
}

export function policyOf({ payload }: Pick<Transaction, 'payload'>): TypePolicy<Payload> {
  return policies[payload.type]
}

/** Refuses, with a RuleError, a transaction that the policy of its type keeps out for what the chain has. */
export function refuseUseless(transaction: Transaction, chain: RowReader): void {
  policyOf(transaction).refuse?.(transaction, transaction.payload, chain)
}

/** Whether {@link refuseUseless} takes a transaction. */
export function isUseful(transaction: Transaction, chain: RowReader): boolean {
  try {
    refuseUseless(transaction, chain)
    return true
  } catch (error) {
    if (error instanceof RuleError) return false
    throw error
  }
}

/** Entries that a newcomer replaces, with their descendants; a RuleError for one that is neither later nor free to replace. */
export function replacedBy(pool: PoolIndex, newcomer: Transaction): readonly PoolEntry[] {
  return policyOf(newcomer).replacement?.entries(pool, newcomer, newcomer.payload) ?? []
}

/** Yields entries that a newcomer with too many ancestors may replace instead of `replaced`: each time one more, with its descendants. */
export function* crowdingOf(
  pool: PoolIndex,
  newcomer: Transaction,
  replaced: readonly PoolEntry[],
): Generator<readonly PoolEntry[], void> {
  let gone = replaced
  for (const entry of policyOf(newcomer).replacement?.crowding?.(pool, newcomer.payload) ?? []) {
    gone = pool.withDescendants([...gone, entry])
    if (spendsFrom(newcomer, gone)) return
    yield gone
  }
}
