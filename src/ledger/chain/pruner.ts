import type { Log } from '../../base/runtime/env.js'
import type { Chain } from './chain.js'
import { prunedAtOnce } from './prune-chain.js'

export interface PrunerOptions {
  readonly chain: Chain
  /** Last blocks that keep their transactions. */
  readonly keep: number
  readonly log: Log
}

/** Has blocks of a chain give up their transactions as its tip moves away from them, between the blocks that come. */
export class Pruner {
  readonly #options: PrunerOptions
  #running: Promise<void> | undefined
  #closed = false
  readonly #follow = () => {
    this.#running ??= this.#run().finally(() => (this.#running = undefined))
  }

  constructor(options: PrunerOptions) {
    this.#options = options
    options.chain.events.on('change', this.#follow)
    this.#follow()
  }

  async #run(): Promise<void> {
    const { chain, keep, log } = this.#options
    const first = chain.prunedHeight + 1
    let last = 0
    // A batch for each block would cost a write of its own with each.
    while (!this.#closed && chain.tip.header.height - keep - chain.prunedHeight >= prunedAtOnce) {
      const to = chain.tip.header.height - keep
      try {
        last = await chain.exclusive(({ prune }) => prune(to))
      } catch (error) {
        // The next block tries again; what stops the node is said elsewhere.
        log.debug({ error: String(error) }, 'no block gives up its transactions')
        return
      }
    }
    if (last >= first) log.info({ from: first, to: last }, 'blocks have given up their transactions')
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#options.chain.events.off('change', this.#follow)
    await this.#running
  }
}
