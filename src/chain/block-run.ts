import { checkProofOfWork } from '../consensus/check-auxpow.js'
import { checkConfirm } from '../consensus/check-confirm.js'
import { type Ancestry, checkClock, checkHeaderContext } from '../consensus/context.js'
import { blockSanitySteps, bodyMatchSteps } from '../consensus/sanity.js'
import type { SignatureCache } from '../crypto/signature-cache.js'
import { runChecks } from '../crypto/verifier.js'
import { RuleError } from '../errors/rule-error.js'
import { Block } from '../primitives/block.js'
import { equalBytes } from '../primitives/bytes.js'
import { workOf } from '../primitives/compact.js'
import { parseConfirm } from '../primitives/confirm.js'
import type { Header } from '../primitives/header.js'
import { runCooperatively } from '../runtime/cooperative.js'
import type { Clock } from '../runtime/env.js'
import { type Database, Overlay } from '../storage/database.js'
import { keys } from '../storage/schema.js'
import { putRecord } from './block-records.js'
import type { HeldBlock } from './chain-change.js'
import { type Connecting, connectInto } from './connect-block.js'
import { type HeaderIndex, type KnownHeader, runAncestry } from './header-index.js'

/** A block as it came, and on a chain with validators its confirm. */
export interface IncomingBlock {
  readonly block: Uint8Array
  readonly confirm?: Uint8Array
  /** What the bytes decode to, where it is known already, and that the body is the one which the header names. */
  readonly matched?: Block
}

/** What checking a block needs beside the block and its ancestors. */
export interface Checking extends Connecting {
  readonly database: Database
  readonly clock: Clock
  /** Signatures of confirms that were verified before their blocks came. */
  readonly confirmSignatures: SignatureCache
}

/** A block of several broke a rule. Those before it are connected. */
export class BlockRunError extends Error {
  readonly index: number
  readonly rule: RuleError

  constructor(index: number, rule: RuleError) {
    super(`block ${index} of the run: ${rule.message}`)
    this.index = index
    this.rule = rule
  }
}

/** What the header says, measured against its ancestors, and whether the body is the one it names. */
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

/** Whether a block has the confirm that its chain asks for. `assumed`: its signatures are believed. */
export async function checkConfirmOf(
  header: Header,
  bytes: Uint8Array | undefined,
  { sanity: { spec }, confirmSignatures, verifier }: Checking,
  { assumed = false } = {},
): Promise<void> {
  if (!spec.hasValidators) {
    if (bytes !== undefined) throw new RuleError('confirm-unexpected')
    return
  }
  if (bytes === undefined) throw new RuleError('confirm-missing')
  const checks = checkConfirm(spec, header, parseConfirm(bytes))
  if (!assumed) await runChecks(confirmSignatures.unknown(checks), verifier)
}

/** What a run of blocks leads to: everything up to the first block that breaks a rule. */
export interface ConnectedRun {
  readonly overlay: Overlay
  readonly connected: readonly HeldBlock[]
  readonly failure?: RuleError
}

/**
 * Connects blocks that follow `tip` one on the other, as if each had come alone. Nothing is written. `assumed`: signatures
 * of transactions, operations, credentials and confirms are believed; everything else is checked.
 */
export async function connectRun(
  blocks: readonly IncomingBlock[],
  tip: KnownHeader,
  checking: Checking & { readonly headers: HeaderIndex; readonly overlay: Overlay; readonly arrival: number },
  { assumed }: { readonly assumed: boolean },
): Promise<ConnectedRun> {
  const { overlay, headers, sanity } = checking
  const connected: HeldBlock[] = []
  const run: Header[] = []
  let { chainWork } = tip
  try {
    for (const { block: bytes, confirm, matched } of blocks) {
      const block = matched ?? (await runCooperatively(Block.fromBytesSteps(bytes)))
      const ancestry = runAncestry(headers, tip, run)
      if (!equalBytes(block.header.previous, (run.at(-1) ?? tip.header).hash)) {
        throw new RuleError('block-stale', `${block.hash} does not follow the one before it`)
      }
      await checkPlace(block, ancestry, checking, { matched: matched !== undefined })
      await checkConfirmOf(block.header, confirm, checking, { assumed })
      await runCooperatively(blockSanitySteps(block, sanity))
      const layer = new Overlay(overlay)
      const event = await connectInto(layer, block, checking, { assumed })
      chainWork += workOf(block.header.bits)
      putRecord(layer, block, { chainWork, size: bytes.length, status: 'active', arrival: checking.arrival })
      if (confirm !== undefined) layer.put(keys.confirm(block.header.hash), confirm)
      layer.mergeInto(overlay)
      connected.push(event)
      run.push(block.header)
    }
  } catch (error) {
    if (error instanceof RuleError) return { overlay, connected, failure: error }
    throw error
  }
  return { overlay, connected }
}
