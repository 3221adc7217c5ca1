import { RuleError } from '../errors/rule-error.js'
import { mapKey } from '../primitives/bytes.js'
import { type SideChainPow, txType } from '../primitives/payload.js'
import type { Transaction } from '../primitives/transaction.js'
import type { PoolEntry, PoolGraph } from './graph.js'

/**
 * Entries that a transaction replaces, with their descendants. `pool-side-chain` for a side-chain proof that may replace none.
 */
export function replacedBy(graph: PoolGraph, transaction: Transaction): readonly PoolEntry[] {
  const { payload } = transaction
  if (payload.type === txType.sideChainPow) return replacedByProof(graph, transaction, payload)
  if (payload.type === txType.did && payload.operation.operation === 'deactivate') {
    return replacedByDeactivate(graph, transaction, payload.operation.payload)
  }
  return []
}

/** A deactivate replaces pending updates of its DID. */
function replacedByDeactivate(graph: PoolGraph, transaction: Transaction, did: string): readonly PoolEntry[] {
  const pending = graph.operations(did)
  if (pending.some((entry) => entry.did?.state.status === 'deactivated')) return []
  const updates = pending.filter(({ transaction: { payload } }) => {
    return payload.type === txType.did && payload.operation.operation === 'update'
  })
  const replaced = graph.withDescendants(updates)
  // A deactivate that spends change of such an update can only follow it.
  return spendsFrom(transaction, replaced) ? [] : replaced
}

/**
 * A side-chain proof gives way to one of a later block. Its signature covers nothing else, so any client can reuse an old proof
 * in a new transaction: without this rule it would block newer ones.
 */
function replacedByProof(
  graph: PoolGraph,
  transaction: Transaction,
  { sideGenesisHash, blockHeight }: SideChainPow,
): readonly PoolEntry[] {
  const pooled = graph.sideChain(sideGenesisHash)
  const payload = pooled?.transaction.payload
  if (pooled === undefined || payload?.type !== txType.sideChainPow) return []
  if (blockHeight <= payload.blockHeight) {
    throw new RuleError(
      'pool-side-chain',
      `the pool holds one of height ${payload.blockHeight}: a later one replaces it`,
    )
  }
  const replaced = graph.withDescendants([pooled])
  if (!spendsFrom(transaction, replaced)) return replaced
  throw new RuleError('pool-side-chain', 'it spends an output of the one that it would replace')
}

/** Whether a transaction spends an output of one of the entries. */
function spendsFrom({ inputs }: Transaction, entries: readonly PoolEntry[]): boolean {
  const ids = new Set(entries.map(({ transaction }) => mapKey(transaction.hash)))
  return inputs.some(({ txid }) => ids.has(mapKey(txid)))
}
