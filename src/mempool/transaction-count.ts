import type { Chain } from '../chain/chain.js'
import { forEachCooperatively } from '../runtime/cooperative.js'
import { keys } from '../storage/schema.js'
import type { Mempool } from './mempool.js'

/**
 * Counts the transactions that a node meets from now on: when its pool accepts one, and when a block brings one that neither the pool
 * nor a block that it replaces held, such as every coinbase. What is mined later or returns to the pool in a reorganisation is
 * not counted again; what the pool dropped in between is.
 */
export function countTransactions({ chain, mempool }: { readonly chain: Chain; readonly mempool: Mempool }): {
  readonly total: number
} {
  const counter = { total: 0 }
  /** Of blocks that a reorganisation connects, by block; those of one that came to nothing go with the next change. */
  const foreseen = new Map<string, number>()
  mempool.events.on('accepted', () => counter.total++)
  chain.addIndexer({
    foresee: async ({ header, transactions }) => {
      let fresh = 0
      // Readers still see the branch that is left: what it holds has a place there.
      await forEachCooperatively(transactions, ({ hash }) => {
        if (mempool.get(hash) === undefined && chain.database.get(keys.location(hash)) === undefined) fresh++
      })
      foreseen.set(header.id, fresh)
    },
    // Not later: once it follows the change, the pool no longer holds what was mined.
    stage: (_, { connected }) => {
      for (const { header, block } of connected) {
        const fresh = block?.transactions.filter(({ hash }) => mempool.get(hash) === undefined).length
        counter.total += fresh ?? foreseen.get(header.id) ?? 0
      }
      foreseen.clear()
    },
    follow: () => Promise.resolve(),
  })
  return counter
}
