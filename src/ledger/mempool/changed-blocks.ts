import type { ChangedBlock } from '../chain/chain.js'
import { mapKey } from '../../base/primitives/bytes.js'
import type { Transaction } from '../../base/primitives/transaction.js'
import type { Changed } from './dependents.js'

/** Effects of connected and disconnected blocks on the pool. */

/** Transactions of the blocks whose body is in memory, coinbases excluded. */
export function transactionsOf(blocks: readonly ChangedBlock[]): Transaction[] {
  return blocks.flatMap(({ block }) => block?.transactions.slice(1) ?? [])
}

/** Transactions of disconnected blocks, oldest first, without those that connected blocks contain. */
export function returnedBy(disconnected: readonly ChangedBlock[], connected: readonly ChangedBlock[]): Transaction[] {
  if (disconnected.length === 0) return []
  const mined = new Set(transactionsOf(connected).map(({ hash }) => mapKey(hash)))
  return transactionsOf([...disconnected].reverse()).filter(({ hash }) => !mined.has(mapKey(hash)))
}

/** DIDs and credentials that connected blocks changed, each once. */
export function changedBy(connected: readonly Pick<ChangedBlock, 'dids' | 'credentials'>[]): Changed {
  const dids = new Set(connected.flatMap((block) => block.dids))
  const credentials = new Set(connected.flatMap((block) => block.credentials))
  return { dids: [...dids], credentials: [...credentials] }
}
