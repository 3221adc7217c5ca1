import type { Block } from '../../base/primitives/block.js'
import { mapKey } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Overlay } from '../storage/write/overlay.js'
import { tables } from '../storage/rows/tables.js'
import type { Chain } from './chain.js'
import { bodyOf } from './read-body.js'

/** A branch that the chain left; its transactions may return to the pool. */
export interface LeftBranch {
  readonly number: number
  /** Its blocks, oldest first. */
  readonly blocks: readonly Hash[]
}

/**
 * Left branches whose transactions are not re-evaluated yet. The batch that leaves a branch writes its row, and only {@link
 * settle} deletes it: a kill loses none.
 */
export class LeftBranches {
  readonly #chain: Chain
  #open: LeftBranch[] = []
  /** Rows read and not deleted yet. A reindex restarts the numbers, so they are unordered and may repeat. */
  #seen: ReadonlySet<string> = new Set()

  constructor(chain: Chain) {
    this.#chain = chain
  }

  /** The oldest left branch. */
  get first(): LeftBranch | undefined {
    return this.#open[0]
  }

  /** Reads new rows. Call while no reorganisation is under way. */
  async look(): Promise<void> {
    const rows = await this.#chain.database.rows(tables.leftBranch.range())
    const seen = this.#seen
    this.#seen = new Set(rows.map(rowId))
    for (const row of rows) {
      if (seen.has(rowId(row))) continue
      const [key, value] = row
      const { tip, forkHeight } = tables.leftBranch.decode(value)
      this.#open.push({ number: tables.leftBranch.fields(key)[0], blocks: this.#between(tip.hash, forkHeight) })
    }
  }

  /** A block of a branch; undefined when its body is no longer stored. */
  read(hash: Hash): Promise<Block | undefined> {
    return bodyOf(this.#chain.database, this.#chain.headers, hash)
  }

  /** Stages that a branch is re-evaluated. */
  settle(branch: LeftBranch, overlay: Overlay): void {
    this.#open = this.#open.filter((open) => open !== branch)
    overlay.del(tables.leftBranch.key(branch.number))
  }

  #between(tip: Hash, forkHeight: number): Hash[] {
    const blocks: Hash[] = []
    const { headers } = this.#chain
    for (let known = headers.get(tip); known !== undefined && known.header.height > forkHeight;) {
      blocks.push(Uint8Array.from(known.header.hash))
      known = headers.get(known.header.previous)
    }
    return blocks.reverse()
  }
}

/** Distinguishes two branches with the same number. */
function rowId([key, value]: readonly [Uint8Array, Uint8Array]): string {
  return mapKey(key) + mapKey(value)
}
