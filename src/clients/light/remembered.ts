import { equalBytes } from '../../base/primitives/bytes.js'
import type { Followed, TrustBasis } from './trust-basis.js'
import type { SeenBlock } from './light-memory.js'

/** New knowledge of a chain. */
export type Update =
  /** A block that holds. */
  | { readonly block: SeenBlock }
  /** Validators or headers that hold. */
  | { readonly followed: Followed }

/** Memory of a light resolver about a chain: a value, which each update makes anew. */
export class Remembered {
  /** The highest block seen. */
  readonly seen: SeenBlock
  readonly foundation: TrustBasis

  constructor(seen: SeenBlock, foundation: TrustBasis) {
    this.seen = seen
    this.foundation = foundation
  }

  /** Returns the value after an update; the same one if nothing changes. */
  apply(update: Update): Remembered {
    if ('block' in update)
      return isNewer(update.block, this.seen) ? new Remembered(update.block, this.foundation) : this
    const foundation = this.foundation.apply(update.followed)
    return foundation === this.foundation ? this : new Remembered(this.seen, foundation)
  }
}

/** Whether a block is above the highest one seen, or is that one with the confirm that it lacked. */
function isNewer(block: SeenBlock, seen: SeenBlock): boolean {
  const [{ height, hash }, known] = [block.header, seen.header]
  if (height !== known.height) return height > known.height
  return seen.confirm === undefined && (block.confirm !== undefined || !equalBytes(hash, known.hash))
}
