import type { ChainView } from '../../../ledger/chain/chain-view.js'
import type { StoredConfirm } from '../../../ledger/chain/assumed-confirms.js'
import type { SnapshotBlock, ChainSnapshot } from '../../../ledger/chain/chain-snapshot.js'
import { type Confirm, parseConfirm } from '../../../base/primitives/confirm.js'
import { tables } from '../../../ledger/storage/rows/tables.js'

/**
 * Confirms of blocks, by height. Those of blocks assumed to be valid are verified first, and left out where they do not hold; the
 * genesis block and chains without validators have none.
 */
export async function heldConfirms(
  { spec, assumedConfirms }: ChainView,
  { rows }: ChainSnapshot,
  blocks: readonly SnapshotBlock[],
): Promise<ReadonlyMap<number, Confirm>> {
  const held = new Map<number, Confirm>()
  if (!spec.hasValidators) return held
  const stored = await rows.getMany(blocks.map(({ header }) => tables.confirm.key(header.hash)))
  let open = blocks.flatMap(({ header }, i): StoredConfirm[] => {
    const confirm = stored[i]
    return confirm === undefined ? [] : [{ header, confirm }]
  })
  while (open.length > 0) {
    const valid = await assumedConfirms.verify(open)
    for (const { header, confirm } of open.slice(0, valid)) held.set(header.height, parseConfirm(confirm))
    open = open.slice(valid + 1)
  }
  return held
}
