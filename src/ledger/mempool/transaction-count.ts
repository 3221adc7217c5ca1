import type { Chain } from '../chain/chain.js'
import { forEachCooperatively } from '../../base/runtime/cooperative.js'
import { tables } from '../storage/rows/tables.js'
import type { Mempool } from './mempool.js'

/**
 * Counts transactions seen since the start: accepted by the pool, or in a block and neither in the pool nor in a replaced block
 * (every coinbase). Transactions mined later or returned by a reorganisation are not counted again; those dropped in between
 * are.
 */
export function countTransactions({ chain, mempool }: { readonly chain: Chain; readonly mempool: Mempool }): {
  readonly total: number
} {
  const counter = { total: 0 }
  /** Counts by block id during a reorganisation; counts of an abandoned one are cleared with the next change. */
  const foreseen = new Map<string, number>()
  mempool.events.on('accepted', () => counter.total++)
  chain.addIndexer({
    foresee: async ({ header, transactions }) => {
      let fresh = 0
      // Readers still see the left branch, so its transactions have a location.
      await forEachCooperatively(transactions, ({ hash }) => {
        if (mempool.get(hash) === undefined && chain.database.get(tables.location.key(hash)) === undefined) fresh++
      })
      foreseen.set(header.id, fresh)
    },
    // Here and not in `follow`: by then the pool has removed mined transactions.
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
