import type { Hash } from '../../base/primitives/hash.js'
import { coinStateOf } from '../../base/primitives/spec.js'
import type { Transaction } from '../../base/primitives/transaction.js'
import { didRoot } from '../../identity/proofs/map-tree.js'
import { forEachCooperatively, runCooperatively } from '../../base/runtime/cooperative.js'
import { LeafChanges, type LeafOperation } from '../storage/rows/map/leaf-changes.js'
import { hasMap, mapChangeOf, mapRootAfter } from '../storage/rows/map/map-rows.js'
import { Overlay } from '../storage/write/overlay.js'
import type { Chain } from './chain.js'

/** An operation of a block that is being made. */
export interface NextOperation {
  readonly operation: LeafOperation
  readonly tx: Transaction
  /** Position in the block. */
  readonly index: number
}

/** Returns the commitment to the state after an active block; undefined: the chain has no map of DIDs, or none of that height. */
export function didRootAfter({ database, genesis }: Chain, height: number): Hash | undefined {
  const root = hasMap(database) ? mapRootAfter(database, height) : undefined
  return root && didRoot(genesis.header.hash, root)
}

/** Returns the commitment to all coins of a block at a height above an active one; undefined: it commits to none. */
export async function coinRootOf({ coinRoots, headers, spec }: Chain, height: number): Promise<Hash | undefined> {
  const state = coinStateOf(spec, height)
  return state === undefined ? undefined : (await coinRoots.of(headers.activeAt(state).header)).root
}

/**
 * Returns the commitment of a block on the tip whose header has this time and whose transactions have these operations; undefined: the
 * chain has no map of DIDs. The tip moves meanwhile → a useless root, or an error.
 */
export async function nextDidRoot(
  { database, genesis, mapMemory, tip }: Chain,
  time: number,
  operations: readonly NextOperation[],
): Promise<Hash | undefined> {
  // One state for all reads: what is kept for the block must not mix two.
  const rows = database.freeze()
  try {
    const overlay = new Overlay(rows)
    if (!hasMap(overlay)) return undefined
    const leaves = new LeafChanges()
    const height = tip.header.height + 1
    await forEachCooperatively(operations, ({ operation, tx, index }) => {
      leaves.put(overlay, operation, { height, time, tx, index })
    })
    const { root } = await mapChangeOf(overlay, await runCooperatively(leaves.listSteps()), mapMemory)
    return didRoot(genesis.header.hash, root)
  } finally {
    rows.close()
  }
}
