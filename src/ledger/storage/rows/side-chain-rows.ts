import type { BlockTransaction } from '../../consensus/connect.js'
import type { Steps } from '../../../base/primitives/steps.js'
import type { StagedRows, RowReader } from './row-reader.js'
import { type SideChainUndo, tables } from './tables.js'

/**
 * One row for each side chain: the latest of its blocks of which the chain has a proof of work. Made with the rows of the block
 * that has the proof. Where the spec has no `sideChainOrder`, a database of an earlier version may lack rows of that version.
 */

/** The height up to which blocks of a side chain are proved; undefined where no row says. */
export function provedHeight(rows: RowReader, genesis: Uint8Array): number | undefined {
  return tables.sideChain.get(rows, genesis)
}

/** Rows staged in one step: a block has room for thousands of proofs. */
const rowsAtOnce = 16

/** Stages the rows that the proofs of a block change; returns what takes them back. */
export function* provedSteps(rows: StagedRows, transactions: readonly BlockTransaction[]): Steps<SideChainUndo[]> {
  const changed: SideChainUndo[] = []
  for (let i = 0; i < transactions.length; i++) {
    const proved = transactions[i]?.proved
    if (proved === undefined) continue
    const { genesis, height, before } = proved
    rows.put(tables.sideChain.key(genesis), tables.sideChain.encode(height))
    if (changed.push({ genesis, before }) % rowsAtOnce === 0) yield
  }
  return changed
}

/** Stages that the proofs of a block are taken back. */
export function takeBackProved(rows: StagedRows, changed: readonly SideChainUndo[]): void {
  for (const { genesis, before } of [...changed].reverse()) {
    if (before === undefined) rows.del(tables.sideChain.key(genesis))
    else rows.put(tables.sideChain.key(genesis), tables.sideChain.encode(before))
  }
}
