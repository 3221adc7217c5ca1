import type { BlockTransaction } from '../../consensus/connect.js'
import type { Steps } from '../../../base/primitives/steps.js'
import type { RowReader } from './did-reader.js'
import type { Overlay } from '../write/overlay.js'
import { keys } from './schema.js'
import { type SideChainUndo, values } from './row-values.js'

/**
 * One row for each side chain: the latest of its blocks of which the chain has a proof of work. Made with the rows of the block
 * that has the proof. Where the spec has no `sideChainOrder`, a database of an earlier version may lack rows of that version.
 */

/** The height up to which blocks of a side chain are proved; undefined where no row says. */
export function provedHeight(rows: RowReader, genesis: Uint8Array): number | undefined {
  const row = rows.get(keys.sideChain(genesis))
  return row === undefined ? undefined : values.height.decode(row)
}

/** Rows staged in one step: a block has room for thousands of proofs. */
const rowsAtOnce = 16

/** Stages the rows that the proofs of a block change; returns what takes them back. */
export function* provedSteps(overlay: Overlay, transactions: readonly BlockTransaction[]): Steps<SideChainUndo[]> {
  const changed: SideChainUndo[] = []
  for (let i = 0; i < transactions.length; i++) {
    const proved = transactions[i]?.proved
    if (proved === undefined) continue
    const { genesis, height, before } = proved
    overlay.put(keys.sideChain(genesis), values.height.encode(height))
    if (changed.push({ genesis, before }) % rowsAtOnce === 0) yield
  }
  return changed
}

/** Stages that the proofs of a block are taken back. */
export function takeBackProved(overlay: Overlay, changed: readonly SideChainUndo[]): void {
  for (const { genesis, before } of [...changed].reverse()) {
    if (before === undefined) overlay.del(keys.sideChain(genesis))
    else overlay.put(keys.sideChain(genesis), values.height.encode(before))
  }
}
