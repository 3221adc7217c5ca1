import type { Chain } from '../chain/chain.js'
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
  mempool.events.on('accepted', () => counter.total++)
  chain.addFollower({
    // Not later: once it follows the change, the pool no longer holds what was mined.
    stage: (_, { connected, disconnected }) => {
      const replaced = new Set(disconnected.flatMap(({ block }) => block.transactions.map(({ txid }) => txid)))
      const fresh = connected
        .flatMap(({ block }) => block.transactions)
        .filter(({ hash, txid }) => mempool.get(hash) === undefined && !replaced.has(txid))
      counter.total += fresh.length
    },
    follow: () => Promise.resolve(),
  })
  return counter
}
