import type { Chain } from '../../chain/chain.js'
import type { Log } from '../../runtime/env.js'
import { Overlay } from '../../storage/database.js'

/** How rows of peers and bans get into the database: in batches of their own, one after another. */
export class PeerRows {
  readonly #chain: Pick<Chain, 'tip' | 'database'>
  readonly #log: Log
  #written: Promise<void> = Promise.resolve()

  constructor(chain: Pick<Chain, 'tip' | 'database'>, log: Log) {
    this.#chain = chain
    this.#log = log
  }

  /**
   * Writes what `fill` puts. What a kill of the machine takes of it is not missed, so nothing waits for the disk. Never
   * rejects: the database stops the node by itself when it cannot write.
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

  /** Resolves when everything is written. */
  async idle(): Promise<void> {
    await this.#written
  }
}
