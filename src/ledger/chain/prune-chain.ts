import { InvariantError } from '../../base/errors/rule-error.js'
import { runCooperatively } from '../../base/runtime/cooperative.js'
import { type Spec, validatorChanges } from '../../base/primitives/spec.js'
import type { Database } from '../storage/database.js'
import { Overlay } from '../storage/write/overlay.js'
import { prunedHeight } from '../storage/rows/prune-rows.js'
import { tables } from '../storage/rows/tables.js'
import { reorganisationDepth } from './branches.js'
import type { HeaderIndex } from './header-index.js'

/** @tuning count: blocks that give up their transactions in one batch */
export const prunedAtOnce = 64
/** @tuning bytes: blocks at which a batch of a pruning ends */
const prunedBytes = 16 * 1024 * 1024

/** Parts of a chain that a pruning uses. */
export interface PrunedChain {
  readonly database: Database
  readonly headers: HeaderIndex
  readonly spec: Spec
  /** Height of the tip. */
  readonly height: number
  /** Writes rows that leave the active chain unchanged. */
  commit(overlay: Overlay): Promise<void>
}

/** Has the next blocks up to a height give up their transactions, in one batch; resolves with the highest that has by now. */
export async function pruneBlocks(
  { database, headers, spec, height, commit }: PrunedChain,
  to: number,
): Promise<number> {
  if (to > height - reorganisationDepth) throw new InvariantError('a block that may leave the chain keeps its body')
  const { pruneBlockSteps } = await import('../storage/care/prune-block.js')
  const overlay = new Overlay(database)
  const first = prunedHeight(database) + 1
  const end = Math.min(to + 1, first + prunedAtOnce)
  const namesOthers = new Set(validatorChanges(spec).map((change) => change - 1))
  let bytes = 0
  let next = first
  for (; next < end && bytes < prunedBytes; next++) {
    // Light resolvers follow validators by the coinbases that name them, however old.
    const rows = namesOthers.has(next) ? [] : await database.rows(tables.transaction.range(next))
    await runCooperatively(pruneBlockSteps(overlay, next, rows))
    bytes += headers.activeAt(next).size
  }
  if (next > first) await commit(overlay)
  return next - 1
}
