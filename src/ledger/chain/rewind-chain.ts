import { InvariantError, RuleError } from '../../base/errors/rule-error.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import type { Database } from '../storage/database.js'
import type { JournalKind } from '../storage/rows/journal-row.js'
import { requireAbove } from '../storage/rows/prune-rows.js'
import { tables } from '../storage/rows/tables.js'
import { Overlay } from '../storage/write/overlay.js'
import { BlockRunError, type Checking, connectRun, type IncomingBlock } from './block-run.js'
import type { Branches } from './branches.js'
import { type ChainChange, changeOf, type ChainWriter, type Restoration } from './chain-change.js'
import { disconnectInto, rewindBlocks, rewindBytes } from './disconnect-block.js'
import type { HeaderIndex, KnownHeader } from './header-index.js'

/** Changes that only the chain of a devnet makes: it goes back, or replaces its last blocks by others, whatever their work. */

/** @limit count: blocks that leave a devnet when others take their place */
export const replacedBlocks = 20_000
/** @limit bytes: blocks that leave a devnet when others take their place */
export const replacedBytes = 64 * 1024 * 1024

/** Kind of a change of the active chain, the tip after it, and on a rewind the components restored with it. */
export interface ChangeInfo {
  readonly kind: JournalKind
  readonly top: Header
  readonly restoring?: readonly Restoration[]
}

/** The parts of a chain that its last blocks are taken from. */
export interface RewoundChain extends Checking {
  readonly database: Database
  readonly headers: HeaderIndex
  readonly branches: Branches
  tip(): KnownHeader
  /** Arrival number of the next block. */
  arrival(): number
  /** Writes a change and notifies all that follow the chain. */
  change(overlay: Overlay, change: ChainChange, info: ChangeInfo): Promise<void>
}

/** Parts by which active blocks are found. */
type ActiveBlocks = Pick<RewoundChain, 'tip'> & { readonly headers: Pick<HeaderIndex, 'activeAt'> }

/** Takes the blocks above `to` back and deletes them, in one batch or several. */
export async function rewindChain(chain: RewoundChain, to: Hash, restorations: readonly Restoration[]): Promise<void> {
  const target = targetOf(chain, to)
  for (let done = false; !done;) {
    const overlay = new Overlay(chain.database)
    const going = someDownTo(chain, target.header.height, { blocks: rewindBlocks, bytes: rewindBytes })
    const disconnected = await disconnectInto(overlay, chain.database, going, chain, ({ header }) =>
      deleteRecord(overlay, header),
    )
    const top = chain.headers.activeAt(chain.tip().header.height - going.length).header
    done = top.height === target.header.height
    const restoring = done ? restorations : []
    await chain.change(overlay, changeOf({ disconnected }), { kind: 'rewind', top, restoring })
  }
}

/**
 * Puts `blocks` in place of those above `to`, in one batch. A block breaks a rule → nothing changes, and it rejects with a {@link
 * BlockRunError}; so does too much that would leave, with a RuleError.
 */
export async function replaceBlocks(
  chain: RewoundChain,
  to: Hash,
  blocks: readonly IncomingBlock[],
  { restorations = [], keep = false }: Parameters<ChainWriter['replace']>[2] = {},
): Promise<void> {
  const { database, headers, branches } = chain
  const target = targetOf(chain, to)
  const going = leavingBlocks(chain, target.header.height)
  const kept = keep && (await branches.hasRoom())
  const overlay = new Overlay(database)
  const disconnected = await disconnectInto(overlay, database, going, chain, (known, body) => {
    if (kept) branches.stageLeft(overlay, known, body)
    else deleteRecord(overlay, known.header)
  })
  const checking = { ...chain, overlay, arrival: chain.arrival() }
  const { connected, failure } = await connectRun(blocks, target, checking, { assumed: false, following: 0 })
  if (failure !== undefined) throw new BlockRunError(connected.length, failure)
  const fromAside = connected.flatMap(({ header }) => headers.get(header.hash) ?? []).filter(isAside)
  for (const { header } of fromAside) overlay.del(tables.sideBody.key(header.hash))
  const top = connected.at(-1)?.header ?? target.header
  await chain.change(overlay, changeOf({ disconnected, connected }), { kind: 'rewind', top, restoring: restorations })
  branches.count({ left: kept ? going : [], taken: fromAside })
}

/** The active blocks above a height, newest first; `request-parameter` where they are too many to leave at once. */
export function leavingBlocks(chain: ActiveBlocks, floor: number): KnownHeader[] {
  const going = someDownTo(chain, floor, { blocks: replacedBlocks, bytes: replacedBytes })
  const count = chain.tip().header.height - floor
  if (going.length === count) return going
  throw new RuleError(
    'request-parameter',
    `too much of the chain would leave at once: ${count} blocks, and more ` +
      `than ${replacedBlocks} of them or ${replacedBytes} bytes cannot`,
  )
}

function targetOf({ sanity, headers, database }: RewoundChain, to: Hash): KnownHeader {
  if (!sanity.spec.devnet) throw new InvariantError('only the chain of a devnet can be taken back')
  const target = headers.get(to)
  if (target?.status !== 'active') throw new InvariantError('the block to go back to is not on the chain')
  requireAbove(database, target.header.height)
  return target
}

/** Active blocks above a height, newest first, until one of the bounds is reached. */
function someDownTo(
  { headers, tip }: ActiveBlocks,
  floor: number,
  most: { readonly blocks: number; readonly bytes: number },
): KnownHeader[] {
  const some: KnownHeader[] = []
  let bytes = 0
  for (let { height } = tip().header; height > floor; height--) {
    if (some.length === most.blocks || bytes >= most.bytes) break
    const known = headers.activeAt(height)
    some.push(known)
    bytes += known.size
  }
  return some
}

function deleteRecord(overlay: Overlay, { hash }: Header): void {
  overlay.del(tables.header.key(hash))
  overlay.del(tables.confirm.key(hash))
}

function isAside({ status }: KnownHeader): boolean {
  return status === 'side'
}
