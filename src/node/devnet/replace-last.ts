import type { Chain } from '../../ledger/chain/chain.js'
import type { ChainChange, ChainWriter } from '../../ledger/chain/chain-change.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { solveEmptyRun } from '../../ledger/production/empty-blocks.js'
import type { DevnetParts } from './devnet-parts.js'
import type { DevnetValidator } from './own-validator.js'

/** Blocks that took the place of others; hashes in display hex. */
export interface Replaced {
  /** Newest first. */
  readonly disconnected: readonly string[]
  /** Oldest first. */
  readonly connected: readonly string[]
}

export interface ReplacingParts extends Pick<DevnetParts, 'chain' | 'mempool' | 'clock' | 'random'> {
  readonly validator: DevnetValidator
  /** Whether the devnet is stopping. */
  stop(): boolean
}

/**
 * Replaces the last blocks by as many empty ones, in one batch. Those that leave stay as side blocks, as after a reorganisation, and
 * their transactions go back to the pool; with `drop` they leave it again, with what depends on them.
 */
export async function replaceLast(
  { chain, mempool, clock, random, validator, stop }: ReplacingParts,
  { replace }: ChainWriter,
  { blocks: count, drop }: { readonly blocks: number; readonly drop: boolean },
): Promise<Replaced> {
  await mempool.settled()
  const base = chain.headers.activeAt(chain.tip.header.height - count)
  const time = (parentTime: number) => clock.blockTime(parentTime)
  const blocks = await solveEmptyRun(chain, { base, count, payTo: validator.payTo, random, time, stop })
  if (blocks.length < count) throw new RuleError('busy', 'the node is stopping')
  const incoming = blocks.map((block) => validator.confirmed(block))
  const { disconnected, connected } = await changeMadeBy(chain, () =>
    replace(base.header.hash, incoming, { keep: true }),
  )
  if (drop) {
    const left = disconnected.flatMap(({ block }) => block?.transactions ?? []).filter(({ isCoinbase }) => !isCoinbase)
    await mempool.remove(
      left.map(({ hash }) => hash),
      'dev_reorg',
    )
  }
  const names = (changed: ChainChange['connected']) => changed.map(({ header }) => header.id)
  return { disconnected: names(disconnected), connected: names(connected) }
}

/** The change of the chain that a job makes. */
async function changeMadeBy(chain: Chain, job: () => Promise<void>): Promise<ChainChange> {
  let made: ChainChange | undefined
  const note = (change: ChainChange) => (made = change)
  chain.events.on('change', note)
  try {
    await job()
  } finally {
    chain.events.off('change', note)
  }
  return made ?? { reorganised: false, disconnected: [], connected: [] }
}
