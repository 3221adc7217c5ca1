import { equalBytes } from '../primitives/bytes.js'
import type { Overlay } from '../storage/database.js'
import type { HeldBlock } from './chain-change.js'
import type { KnownHeader } from './header-index.js'

/** Blocks of one height whose outcome is kept. Each holds its rows in memory. */
const preparedKept = 4

/** A block that was checked on top of a tip, with the rows that it changes. */
export interface PreparedBlock {
  readonly bytes: Uint8Array
  readonly tip: KnownHeader
  readonly overlay: Overlay
  readonly event: HeldBlock
}

/** What trial connects on top of the tip came to. The oldest goes first, and all of them with the tip. */
export class PreparedBlocks {
  #kept: PreparedBlock[] = []

  add(prepared: PreparedBlock): void {
    this.#kept = [...this.#kept.filter(({ tip }) => tip === prepared.tip), prepared].slice(-preparedKept)
  }

  /** What came of exactly these bytes on this tip. */
  find(bytes: Uint8Array, tip: KnownHeader): PreparedBlock | undefined {
    this.#kept = this.#kept.filter((prepared) => prepared.tip === tip)
    return this.#kept.find((prepared) => equalBytes(prepared.bytes, bytes))
  }
}
