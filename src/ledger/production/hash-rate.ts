import type { ChainView } from '../chain/chain-view.js'
import type { KnownHeader } from '../chain/header-index.js'

/** Blocks over which the work of a chain is averaged. */
const hashRateBlocks = 120

/** Hashes per second by the work of the last blocks, rounded down; 0 at genesis. */
export function networkHashRate({ tip, headers }: Pick<ChainView, 'tip' | 'headers'>): bigint {
  const { height } = tip.header
  const from = headers.active(Math.max(0, height - hashRateBlocks)) as KnownHeader
  const seconds = Math.max(1, tip.header.time - from.header.time)
  return (tip.chainWork - from.chainWork) / BigInt(seconds)
}
