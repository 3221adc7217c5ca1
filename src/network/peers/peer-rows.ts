import type { Chain } from '../../chain/chain.js'
import type { Log } from '../../runtime/env.js'
import { Overlay } from '../../storage/database.js'

/** Writes rows of peers and bans in batches of their own, not with those of the chain. */
export class PeerRows {
  readonly #chain: Pick<Chain, 'tip' | 'database'>
  readonly #log: Log
  #written: Promise<void> = Promise.resolve()

  constructor(chain: Pick<Chain, 'tip' | 'database'>, log: Log) {
    this.#chain = chain
    this.#log = log
  }

  /**
   * Writes the rows that `fill` puts, without sync: losing them in a power failure is harmless. Never rejects: a write
   * error of the database stops the node.
   */
  write(fill: (overlay: Overlay) => void): Promise<void> {
    const { database, tip } = this.#chain
    const overlay = new Overlay(database)
    fill(overlay)
    const { height, hash } = tip.header
    this.#written = overlay
      .commit({ kind: 'peers', height, hash }, { sync: false })
      .catch((error: unknown) => this.#log.error({ error: String(error) }, 'what is known of peers was not written'))
    return this.#written
  }

  /** Resolves when the latest batch is written. */
  async idle(): Promise<void> {
    await this.#written
  }
}
