import type { Chain } from '../chain/chain.js'
import { type KnownHeader, runAncestry } from '../chain/header-index.js'
import { coinRootOf, didRootAfter } from '../chain/next-commitments.js'
import { earliestTime, requiredBits } from '../consensus/context.js'
import type { ProgramHash } from '../../base/primitives/address.js'
import type { Block } from '../../base/primitives/block.js'
import { zeroHash } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import { coinStateOf } from '../../base/primitives/spec.js'
import type { Random } from '../../base/runtime/env.js'
import { solve } from './solve.js'
import { type TemplateContent, templateOf } from './template.js'

export interface EmptyRunRequest {
  /** The active block on which the first one stands. */
  readonly base: KnownHeader
  readonly count: number
  readonly payTo: ProgramHash
  readonly random: Random
  /** Unix seconds of a block on a parent with that time. */
  time(parentTime: number): number
  /** Whether to end early. */
  stop(): boolean
}

/**
 * Blocks without transactions, each with its work, one on top of the other. None of them is on the chain: `acceptBlocks` takes
 * them in one batch. Fewer than `count` when `stop` returned true, and before a block that commits to coins of one of them.
 */
export async function solveEmptyRun(
  chain: Chain,
  { base, count, payTo, random, time, stop }: EmptyRunRequest,
): Promise<Block[]> {
  const blocks: Block[] = []
  const run: Header[] = []
  // No operation, no change: each commits to what the state has already.
  const didRoot = didRootAfter(chain, base.header.height)
  while (blocks.length < count) {
    const ancestry = runAncestry(chain.headers, base, run)
    const parent = run.at(-1) ?? base.header
    const height = parent.height + 1
    if ((coinStateOf(chain.spec, height) ?? 0) > base.header.height) break
    const content: TemplateContent = {
      ...nothing,
      didRoot,
      coinRoot: await coinRootOf(chain, height),
      parent: { header: parent },
      bits: requiredBits(chain.spec, ancestry),
      time: Math.max(time(parent.time), earliestTime(chain.spec, ancestry)),
    }
    const template = templateOf(chain, content, { payTo, nonce: random.bytes(8) })
    const block = await solve(template, stop)
    if (block === undefined) break
    blocks.push(block)
    run.push(block.header)
  }
  return blocks
}

// The coinbase counts as zeros in the root that it commits to, and a single leaf is its own root.
const nothing = { transactions: [], fees: 0n, witnessRoot: zeroHash, branch: [] } as const
