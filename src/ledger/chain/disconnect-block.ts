import type { Block } from '../../base/primitives/block.js'
import type { Overlay } from '../storage/write/overlay.js'
import { tables } from '../storage/rows/tables.js'
import { putDisconnected } from '../storage/stored-state.js'
import { heldBlock, type HeldBlock } from './chain-change.js'
import { checkMapAt, type CommitmentContext } from './check-map.js'
import type { KnownHeader } from './header-index.js'
import { type RangeReader, readBlock } from './read-body.js'

/** @tuning count: blocks that a rewind disconnects in one batch */
export const rewindBlocks = 1000
/** @tuning bytes: blocks at which a batch of a rewind ends */
export const rewindBytes = 16 * 1024 * 1024

/**
 * Stages the disconnection of active blocks, newest first; `leave` stages further rows for each. Returns the events in the
 * order of the blocks.
 */
export async function disconnectInto(
  overlay: Overlay,
  rows: RangeReader,
  blocks: readonly KnownHeader[],
  context: CommitmentContext,
  leave: (known: KnownHeader, body: Block) => void,
): Promise<HeldBlock[]> {
  const events: HeldBlock[] = []
  for (const known of blocks) {
    const body = await readBlock(rows, known)
    const { height } = known.header
    const mapRoot = await putDisconnected(overlay, body)
    if (mapRoot !== undefined) checkMapAt(overlay, height - 1, mapRoot, context)
    overlay.del(tables.active.key(height))
    leave(known, body)
    events.push(heldBlock(body))
  }
  return events
}
