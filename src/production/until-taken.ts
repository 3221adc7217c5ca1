import type { Chain } from '../chain/chain.js'
import type { Code } from '../errors/error-codes.js'
import { RuleError } from '../errors/rule-error.js'
import type { Mempool } from '../mempool/mempool.js'
import type { Extent } from './selection.js'
import { type Selection, selectTransactions } from './template.js'

/** Refusals of one height, each for another transaction, after which a block takes none. */
const maxRefusals = 8

/** Codes of a block that came too late or too soon: another content would not help. */
const notOfContent: ReadonlySet<Code> = new Set([
  'block-stale',
  'block-invalid',
  'block-parent-unknown',
  'block-parent-invalid',
  'block-too-deep',
  'block-unsettled-full',
  'block-time-future',
  'template-stale',
  'mining-impossible',
  'busy',
])

interface UntilTakenDependencies {
  readonly chain: Chain
  readonly mempool: Mempool
}

/** Whether the chain refused a block for what it holds. */
export function isRefusal(error: unknown): error is RuleError {
  return error instanceof RuleError && !notOfContent.has(error.code)
}

/**
 * Has `make` make a block until the chain takes one. After a refusal the transaction that caused it is left out; where none is
 * named, or too many were, the block takes no transaction at all. Rejects with what is no refusal, or with that of such a block.
 */
export async function untilTaken<T>(
  { chain, mempool }: UntilTakenDependencies,
  make: (select: () => Promise<Selection>) => Promise<T>,
  extent: Extent = {},
): Promise<T> {
  let mended = true
  for (let refusals = 0; ; refusals++) {
    const empty = !mended || refusals >= maxRefusals
    const height = chain.tip.header.height + 1
    try {
      return await make(() => selectTransactions(chain, mempool, empty ? { ...extent, share: 0 } : extent))
    } catch (error) {
      if (!isRefusal(error)) throw error
      mended = mempool.refusedBlocks.note(error, height)
      if (empty) throw error
    }
  }
}
