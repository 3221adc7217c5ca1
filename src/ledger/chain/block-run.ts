import { checkProofOfWork } from '../../identity/proofs/auxpow-proof.js'
import { type Ancestry, checkClock, checkHeaderContext } from '../consensus/context.js'
import { blockSanitySteps, bodyMatchSteps } from '../consensus/sanity.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { Block } from '../../base/primitives/block.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import { workOf } from '../../base/primitives/compact.js'
import type { Header } from '../../base/primitives/header.js'
import { coinDepth } from '../../base/primitives/coin-depth.js'
import { nextCoinRoot, type Spec } from '../../base/primitives/spec.js'
import { runCooperatively } from '../../base/runtime/cooperative.js'
import type { Clock } from '../../base/runtime/env.js'
import type { Database } from '../storage/database.js'
import { StorageError } from '../storage/failure.js'
import { Overlay } from '../storage/write/overlay.js'
import { tables } from '../storage/rows/tables.js'
import { putRecord } from './block-records.js'
import { type ConfirmChecking, RunConfirms } from './run-confirms.js'
import type { HeldBlock, IncomingBlock } from './chain-change.js'
import { type Connecting, stageBlock, type StagedBlock } from './connect-block.js'
import { type HeaderIndex, type KnownHeader, runAncestry } from './header-index.js'

export type { IncomingBlock } from './chain-change.js'

/** Context for checking a block. */
export interface Checking extends Connecting, ConfirmChecking {
  readonly database: Database
  readonly clock: Clock
}

/** A block of a run broke a rule; those before it are connected. */
export class BlockRunError extends Error {
  readonly index: number
  readonly rule: RuleError

  constructor(index: number, rule: RuleError) {
    super(`block ${index} of the run: ${rule.message}`)
    this.index = index
    this.rule = rule
  }
}

/** Checks a header against its ancestors, and unless `matched` the body against the header. */
export async function checkPlace(
  block: Block,
  ancestry: Ancestry,
  { sanity, clock }: Checking,
  { matched = false } = {},
): Promise<void> {
  const { header } = block
  checkHeaderContext(sanity.spec, header, ancestry)
  checkClock(sanity.spec, header, clock.now())
  checkProofOfWork(sanity.spec, header, block.auxPow)
  if (!matched) await runCooperatively(bodyMatchSteps(block, sanity))
}

/** Result of a run of blocks: everything before the first block that breaks a rule. */
export interface ConnectedRun {
  readonly overlay: Overlay
  readonly connected: readonly HeldBlock[]
  readonly failure?: RuleError
}

/** A block of a run whose signatures may still be verified. */
interface WaitingBlock extends StagedBlock {
  readonly layer: Overlay
  /** Resolves when the signatures of its confirm hold. */
  readonly confirmed: Promise<void>
}

/**
 * Connects consecutive blocks on top of `tip`, with the rules for single blocks. Writes nothing. `assumed`: signatures of
 * transactions, operations, credentials and confirms are assumed valid; everything else is checked. `following`: blocks known
 * to follow the run. While other threads verify the signatures of a block, the next one is checked on top of it; where the first one
 * fails, those of the next are verified for nothing, and of no further one. Confirms are verified for many blocks at once. The failure
 * is always the one that single blocks have: of the first broken block, its confirm before its body.
 */
export async function connectRun(
  blocks: readonly IncomingBlock[],
  tip: KnownHeader,
  checking: Checking & { readonly headers: HeaderIndex; readonly overlay: Overlay; readonly arrival: number },
  { assumed, following }: { readonly assumed: boolean; readonly following: number },
): Promise<ConnectedRun> {
  const { overlay, headers, sanity, coinRoots } = checking
  const connected: HeldBlock[] = []
  const run: Header[] = []
  let { chainWork } = tip
  const highest = tip.header.height + blocks.length
  const knownHeight = highest + following
  const confirms = new RunConfirms(blocks, checking, { assumed })
  const stage = async (
    { block: bytes, confirm, matched }: IncomingBlock,
    index: number,
    below: Overlay,
  ): Promise<WaitingBlock> => {
    const block = matched ?? (await runCooperatively(Block.fromBytesSteps(bytes)))
    const ancestry = runAncestry(headers, tip, run)
    if (!equalBytes(block.header.previous, (run.at(-1) ?? tip.header).hash)) {
      throw new RuleError('block-stale', `${block.hash} does not follow the one before it`)
    }
    await checkPlace(block, ancestry, checking, { matched: matched !== undefined })
    const { confirmed } = await confirms.of(index)
    const layer = new Overlay(below)
    const staged = await stageBody(layer, block).catch(async (error: unknown) => {
      await confirmed
      throw error
    })
    chainWork += workOf(block.header.bits)
    putRecord(layer, block, { chainWork, size: bytes.length, status: 'active', arrival: checking.arrival })
    if (confirm !== undefined) layer.put(tables.confirm.key(block.header.hash), confirm)
    run.push(block.header)
    return { ...staged, layer, confirmed }
  }
  const stageBody = async (layer: Overlay, block: Block) => {
    await runCooperatively(blockSanitySteps(block, sanity))
    return stageBlock(layer, block, checking, { assumed, knownHeight })
  }
  let waiting: WaitingBlock | undefined
  const finishWaiting = async (above?: Overlay) => {
    if (waiting === undefined) return
    const { event, layer, confirmed, verified } = waiting
    waiting = undefined
    await confirmed
    await verified
    await runCooperatively(layer.mergeSteps(overlay, above))
    connected.push(event)
  }
  try {
    for (const [index, incoming] of blocks.entries()) {
      const staged = await stage(incoming, index, waiting?.layer ?? overlay).catch(async (error: unknown) => {
        // What is wrong with the block before it comes first.
        await finishWaiting()
        throw error
      })
      await finishWaiting(staged.layer)
      waiting = staged
      const top = run.at(-1) as Header
      if (nextCoinRoot(sanity.spec, top.height + 1)?.state !== top.height || top.height + coinDepth > highest) continue
      // A block of this run commits to the coins after this one, which no rows on disk will have by then.
      await finishWaiting()
      await coinRoots.through(top, overlay)
    }
    await finishWaiting()
  } catch (error) {
    if (error instanceof RuleError) return { overlay, connected, failure: unlessConfirmed(error, sanity.spec) }
    throw error
  }
  return { overlay, connected }
}

/** Rules by which a block has the root of this node's own state. */
const ownState: Partial<Record<RuleError['code'], string>> = {
  'coinbase-did-root': 'DIDs',
  'coinbase-coin-root': 'coins',
}

/**
 * A rule that a block with a verified confirm, or of a pinned hash, broke. What validators confirm has the root of this node's own
 * state: with another one this node's rows are wrong, or the validators are, and no peer is to blame. So it is thrown as a failure
 * that stops the node; all other rules are returned. The keys of a devnet are public, and prove nothing.
 */
export function unlessConfirmed(error: RuleError, spec: Spec): RuleError {
  const of = ownState[error.code]
  if (of === undefined || !spec.hasValidators || spec.devnet) return error
  throw new StorageError(
    `a block that the validators confirm commits to another state of all ${of} than this node has: ${error.message}; ` +
      'what this node holds is wrong, or they are; run: npx didledger chain verify --data-dir DIR',
    'damage',
  )
}
