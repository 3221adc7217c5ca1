import type { Header } from '../../base/primitives/header.js'
import type { Log } from '../../base/runtime/env.js'
import type { Database } from '../../ledger/storage/database.js'
import { Overlay } from '../../ledger/storage/write/overlay.js'

/** The part of the chain that the rows need: the journal names the tip. */
interface RowsChain {
  readonly tip: { readonly header: Pick<Header, 'height' | 'hash'> }
  readonly database: Database
}

/** Writes rows of peers and bans in batches of their own, not with those of the chain. */
export class PeerRows {
  readonly #chain: RowsChain
  readonly #log: Log
  #written: Promise<void> = Promise.resolve()

  constructor(chain: RowsChain, log: Log) {
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
