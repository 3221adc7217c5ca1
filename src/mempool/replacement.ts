import { RuleError } from '../errors/rule-error.js'
import { mapKey } from '../primitives/bytes.js'
import { type SideChainPow, txType } from '../primitives/payload.js'
import type { Transaction } from '../primitives/transaction.js'
import type { PoolEntry, PoolGraph } from './graph.js'

/**
 * The entries that a transaction takes the place of, with everything that builds on them. `pool-side-chain` for a proof
 * of side-chain work that may replace none.
 */
export function replacedBy(graph: PoolGraph, transaction: Transaction): readonly PoolEntry[] {
  const { payload } = transaction
  if (payload.type === txType.sideChainPow) return replacedByProof(graph, transaction, payload)
  if (payload.type === txType.did && payload.operation.operation === 'deactivate') {
    return replacedByDeactivate(graph, transaction, payload.operation.payload)
  }
  return []
}

/** A deactivate makes pending updates of its DID pointless. */
function replacedByDeactivate(graph: PoolGraph, transaction: Transaction, did: string): readonly PoolEntry[] {
  const pending = graph.operations(did)
  if (pending.some((entry) => entry.did?.state.status === 'deactivated')) return []
  const updates = pending.filter(({ transaction: { payload } }) => {
    return payload.type === txType.did && payload.operation.operation === 'update'
  })
  const replaced = graph.withDescendants(updates)
  // One that is paid with change of an update it would replace can only follow it.
  return spendsFrom(transaction, replaced) ? [] : replaced
}

/**
 * The proof of work of a side chain gives way to one of a later block. Anybody may put a proof that was seen before into
 * a transaction of their own, as its signature covers nothing else: without this it would keep newer ones out.
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

/** Whether a transaction spends an output of one of these. */
function spendsFrom({ inputs }: Transaction, entries: readonly PoolEntry[]): boolean {
  const ids = new Set(entries.map(({ transaction }) => mapKey(transaction.hash)))
  return inputs.some(({ txid }) => ids.has(mapKey(txid)))
}
