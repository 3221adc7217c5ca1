import type { Chain } from '../chain/chain.js'
import type { Code } from '../../base/errors/error-codes.js'
import { RuleError } from '../../base/errors/rule-error.js'
import type { Mempool } from '../mempool/mempool.js'
import type { Extent } from './selection.js'
import { type Selection, selectTransactions } from './template.js'

/** @tuning count: refusals of a block of this node, each for another transaction, before it takes none */
const maxRefusals = 8

/** Codes of a block that came too late or too early: other contents would not help. */
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

/** Whether the chain refused a block for its contents. */
export function isRefusal(error: unknown): error is RuleError {
  return error instanceof RuleError && !notOfContent.has(error.code)
}

/**
 * Calls `make` until the chain accepts its block. After a refusal the causing transaction is left out. Cause unknown, or too many
 * refusals -> the block takes no transactions. Rejects with other errors, and with the refusal of such an empty block.
 */
export async function untilTaken<T>(
  { chain, mempool }: UntilTakenDependencies,
  make: (select: (time: number) => Promise<Selection>) => Promise<T>,
  extent: Extent = {},
): Promise<T> {
  let causeKnown = true
  for (let refusals = 0; ; refusals++) {
    const empty = !causeKnown || refusals >= maxRefusals
    const height = chain.tip.header.height + 1
    try {
      return await make((time) => {
        return selectTransactions(chain, mempool, { ...extent, ...(empty && { share: 0 }), time })
      })
    } catch (error) {
      if (!isRefusal(error)) throw error
      causeKnown = mempool.refusedBlocks.note(error, height)
      if (empty) throw error
    }
  }
}
