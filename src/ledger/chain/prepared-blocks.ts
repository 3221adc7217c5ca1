import { equalBytes } from '../../base/primitives/bytes.js'
import type { Overlay } from '../storage/write/overlay.js'
import type { HeldBlock } from './chain-change.js'
import type { KnownHeader } from './header-index.js'

/**
 * Each holds its rows in memory.
 * @tuning count: blocks of one height whose trial connect is kept until they are confirmed
 */
const preparedKept = 4

/** A block checked on top of a tip, with the rows that it changes. */
export interface PreparedBlock {
  readonly bytes: Uint8Array
  readonly tip: KnownHeader
  readonly overlay: Overlay
  readonly event: HeldBlock
}

/** Results of trial connects on top of the tip (FIFO); dropped when the tip moves. */
export class PreparedBlocks {
  #kept: PreparedBlock[] = []

  add(prepared: PreparedBlock): void {
    this.#kept = [...this.#kept.filter(({ tip }) => tip === prepared.tip), prepared].slice(-preparedKept)
  }

  /** The result for exactly these bytes on this tip. */
  find(bytes: Uint8Array, tip: KnownHeader): PreparedBlock | undefined {
    this.#kept = this.#kept.filter((prepared) => prepared.tip === tip)
    return this.#kept.find((prepared) => equalBytes(prepared.bytes, bytes))
  }
}
