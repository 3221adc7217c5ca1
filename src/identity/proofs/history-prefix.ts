import { equalBytes } from '../../base/primitives/bytes.js'
import { entryBytes, extendHistory } from './history.js'
import type { ProvedHistory } from './map-proof.js'

/** Two proofs of one history, as of two blocks of one chain. */

/** A history as of the block at a height; undefined: there was none. */
export interface HistoryAt {
  readonly height: number
  readonly history: ProvedHistory | undefined
}

/** Whether the history of the lower block can be the beginning of that of the higher one, as far as entries are known. */
export function mayBegin(lower: HistoryAt, higher: HistoryAt): boolean {
  const count = lower.history?.count ?? 0
  const { history } = higher
  if (history === undefined) return count === 0
  if (count > history.count) return false
  const first = history.count - history.entries.length
  if (history.entries.some(({ height }, i) => height <= lower.height && first + i >= count)) return false
  if (lower.history === undefined || first > count) return true
  const { base, entries } = lower.history
  const upTo = history.entries.slice(0, count - first).map(entryBytes)
  return equalBytes(entries.map(entryBytes).reduce(extendHistory, base), upTo.reduce(extendHistory, history.base))
}
