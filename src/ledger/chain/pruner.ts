import { latestCoinRoot } from '../../base/primitives/spec.js'
import type { Log } from '../../base/runtime/env.js'
import type { Chain } from './chain.js'
import type { ChainWriter } from './chain-change.js'
import { prunedAtOnce } from './prune-chain.js'

/** One kind of pruning. */
interface Pruning {
  /** The highest block that is done with. */
  reached(chain: Chain): number
  /** The highest block that may be, where so many last ones are kept. */
  upTo(chain: Chain, keep: number): number
  prune(writer: ChainWriter, to: number): Promise<number>
  /** Message of the log about blocks. */
  readonly said: string
}

const prunings = {
  blocks: {
    reached: ({ prunedHeight }) => prunedHeight,
    upTo: ({ tip }, keep) => tip.header.height - keep,
    prune: (writer, to) => writer.prune(to),
    said: 'blocks have given up their transactions',
  },
  documents: {
    reached: ({ supersededHeight, joinedHeight }) => Math.max(supersededHeight, joinedHeight),
    upTo: documentsUpTo,
    prune: (writer, to) => writer.pruneDocuments(to),
    said: 'documents superseded in these blocks have been given up',
  },
} as const satisfies Record<string, Pruning>

/**
 * The highest block whose operations may give up what they superseded. What the state that the latest block commits to has stays, so that it
 * can be written for those who begin with it.
 */
function documentsUpTo({ spec, tip, prunes }: Chain, keep: number): number {
  const { height } = tip.header
  const root = latestCoinRoot(spec, height)
  return prunes || root === undefined ? height - keep : Math.min(height - keep, root.state)
}

export interface PrunerOptions {
  readonly chain: Chain
  readonly what: keyof typeof prunings
  /** Last blocks that keep their transactions, or whose operations leave the documents before them in place. */
  readonly keep: number
  readonly log: Log
}

/** Has blocks of a chain give up transactions as its tip moves away from them, between the blocks that come. */
export class Pruner {
  readonly #options: PrunerOptions
  readonly #pruning: Pruning
  #running: Promise<void> | undefined
  #closed = false
  readonly #follow = () => {
    this.#running ??= this.#run().finally(() => (this.#running = undefined))
  }

  constructor(options: PrunerOptions) {
    this.#options = options
    this.#pruning = prunings[options.what]
    options.chain.events.on('change', this.#follow)
    this.#follow()
  }

  async #run(): Promise<void> {
    const { chain, log } = this.#options
    const { reached, prune, said } = this.#pruning
    const first = reached(chain) + 1
    let last = first - 1
    // A batch for each block would cost a write of its own with each.
    while (!this.#closed && this.#upTo - last >= prunedAtOnce) {
      try {
        last = await chain.exclusive((writer) => prune(writer, this.#upTo))
      } catch (error) {
        // The next block tries again; what stops the node is said elsewhere.
        log.debug({ error: String(error) }, 'no block gives up its transactions')
        return
      }
    }
    if (last >= first) log.info({ from: first, to: last }, said)
  }

  get #upTo(): number {
    return this.#pruning.upTo(this.#options.chain, this.#options.keep)
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#options.chain.events.off('change', this.#follow)
    await this.#running
  }
}
