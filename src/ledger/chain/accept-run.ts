import { RuleError } from '../../base/errors/rule-error.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import { CodecError, Reader } from '../../base/primitives/codec.js'
import { Header, headerSize } from '../../base/primitives/header.js'
import { BlockRunError } from './block-run.js'
import type { Chain } from './chain.js'
import type { IncomingBlock } from './chain-change.js'

/** Passes blocks that a program has at hand, of a file or a database, to a chain in runs, as a sync passes those of peers. */

/**
 * Below the depths from which blocks leave fewer rows, `indexUndoHeights` and `provedHeights`: a run leaves the rows of single blocks.
 * @tuning count: blocks of a run
 */
export const runBlocks = 256
/** @tuning bytes: blocks of a run, which ends with the block that exceeds them */
const runBytes = 2 * 1024 * 1024

/** Groups blocks into runs. */
export async function* runsOf(blocks: AsyncIterable<IncomingBlock>): AsyncGenerator<IncomingBlock[], void, void> {
  let run: IncomingBlock[] = []
  let bytes = 0
  for await (const next of blocks) {
    run.push(next)
    bytes += next.block.length
    if (run.length < runBlocks && bytes < runBytes) continue
    yield run
    run = []
    bytes = 0
  }
  if (run.length > 0) yield run
}

/** Result of a run that was offered to a chain. */
export interface AcceptedRun {
  /** Blocks at its begin that broke no rule. */
  readonly taken: number
  /** Those of them that are new to the chain. */
  readonly added: number
  /** Error of the block after these; undefined: all were taken. */
  readonly error?: RuleError | CodecError
}

/**
 * Accepts the blocks of a run with the results of {@link Chain.acceptBlock} for each: in one batch where they follow the tip, singly
 * where not. Rejects if the chain cannot write.
 */
export async function acceptRun(chain: Chain, run: readonly IncomingBlock[]): Promise<AcceptedRun> {
  let [taken, added] = [0, 0]
  while (taken < run.length) {
    const rest = run.slice(taken)
    const batch = rest.slice(0, followingTip(chain, rest))
    const next = rest[0] as IncomingBlock
    try {
      const isNew = batch.length > 0 || (await chain.acceptBlock(next.block, next.confirm)) !== 'known'
      const count = batch.length > 0 ? await chain.acceptBlocks(batch) : 1
      taken += count
      if (isNew) added += count
    } catch (error) {
      const [before, cause] = error instanceof BlockRunError ? [error.index, error.rule] : [0, error]
      if (cause instanceof RuleError || cause instanceof CodecError) {
        return { taken: taken + before, added: added + before, error: cause }
      }
      throw cause
    }
  }
  return { taken, added }
}

/** How many blocks of a run follow the tip, each by the hash that it names of the one before. */
function followingTip(chain: Chain, run: readonly IncomingBlock[]): number {
  let top = chain.tip.header.hash
  const other = run.findIndex(({ block }) => {
    if (block.length < headerSize) return true
    const header = Header.read(new Reader(block))
    const follows = equalBytes(header.previous, top)
    top = header.hash
    return !follows
  })
  return other < 0 ? run.length : other
}
