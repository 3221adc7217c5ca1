import type { Block } from '../primitives/block.js'
import { txType } from '../primitives/payload.js'
import type { RowReader } from './did-rows.js'
import type { Overlay } from './overlay.js'
import { keys } from './schema.js'
import { type SideChainUndo, values } from './row-values.js'

/**
 * One row for each side chain: the latest of its blocks of which the chain has a proof of work. Made with the rows of the block
 * that has the proof. A database of an earlier version has no row for what was proved in that version.
 */

/** The height up to which blocks of a side chain are proved; undefined where no row says. */
export function provedHeight(rows: RowReader, genesis: Uint8Array): number | undefined {
  const row = rows.get(keys.sideChain(genesis))
  return row === undefined ? undefined : values.height.decode(row)
}

/** Stages the rows that the proofs of a block change; returns what takes them back. */
export function putProofs(overlay: Overlay, { transactions }: Pick<Block, 'transactions'>): SideChainUndo[] {
  const changed: SideChainUndo[] = []
  for (const { payload } of transactions) {
    if (payload.type !== txType.sideChainPow) continue
    const { sideGenesisHash: genesis, blockHeight } = payload
    const before = provedHeight(overlay, genesis)
    if (before !== undefined && before >= blockHeight) continue
    overlay.put(keys.sideChain(genesis), values.height.encode(blockHeight))
    changed.push({ genesis, before })
  }
  return changed
}

/** Stages that the proofs of a block are taken back. */
export function takeBackProofs(overlay: Overlay, changed: readonly SideChainUndo[]): void {
  for (const { genesis, before } of [...changed].reverse()) {
    if (before === undefined) overlay.del(keys.sideChain(genesis))
    else overlay.put(keys.sideChain(genesis), values.height.encode(before))
  }
}
