import type { Block } from '../primitives/block.js'
import type { Hash } from '../primitives/hash.js'
import type { Overlay } from '../storage/database.js'

/** A block that became part of the active chain, or ceased to be. */
export interface BlockEvent {
  readonly block: Block
  /** DIDs that its operations changed; of a disconnected block not listed. */
  readonly dids: readonly string[]
}

/** One change of the active chain: what went, newest first, and what came, oldest first. */
export interface ChainChange {
  readonly disconnected: readonly BlockEvent[]
  readonly connected: readonly BlockEvent[]
}

/** A part that keeps rows of its own in step with the chain. */
export interface ChainFollower {
  /** Adds rows to the batch that makes the change. */
  stage(overlay: Overlay, change: ChainChange): void
  /** Follows a change that is on disk; the next one waits for it. */
  follow(change: ChainChange): Promise<void>
}

/** A part of the node that a rewind brings to a state of before together with the chain. */
export interface Restoration {
  /** Adds its rows to the batch that takes the last blocks back; they count, whatever a follower says of them. */
  stage(overlay: Overlay): void
  /** Takes up that state. What it does before it first waits, it does in the same turn in which the tip moves. */
  follow(): Promise<void>
}

/** What only a job that runs between blocks may do. */
export interface ChainWriter {
  /**
   * Takes the chain of a devnet back to one of its blocks, and other parts with it. The blocks above are forgotten, not
   * kept aside: each may come again. They go in one batch, or where they are very many in several.
   */
  rewind(to: Hash, restorations: readonly Restoration[]): Promise<void>
}
