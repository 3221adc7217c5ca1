import type { Block } from '../primitives/block.js'
import type { Hash } from '../primitives/hash.js'
import type { Header } from '../primitives/header.js'
import type { Overlay } from '../storage/database.js'

/** A block that became part of the active chain, or ceased to be. */
export interface ChangedBlock {
  readonly header: Header
  /** The block, of a change that is one batch of bounded size. A reorganisation holds none: {@link read} does. */
  readonly block?: Block
  /** DIDs that its operations changed; of a disconnected block, and of one that a reorganisation connects, not listed. */
  readonly dids: readonly string[]
  /** The block, from its rows where it is not held. To be read before the next change. */
  read(): Promise<Block>
}

/** A block whose change is one batch. */
export interface HeldBlock extends ChangedBlock {
  readonly block: Block
}

export function heldBlock(block: Block, dids: readonly string[] = []): HeldBlock {
  return { header: block.header, block, dids, read: () => Promise.resolve(block) }
}

/** One change of the active chain: what went, newest first, and what came, oldest first. */
export interface ChainChange {
  /** Whether it may be of any size: then its blocks are not held. */
  readonly reorganised: boolean
  readonly disconnected: readonly ChangedBlock[]
  readonly connected: readonly ChangedBlock[]
}

/** A part that keeps rows of its own in step with the chain. */
export interface ChainIndexer {
  /** Looks at a block that a reorganisation is about to connect; readers still see the old branch, and may go on seeing it. */
  foresee?(block: Block): Promise<void>
  /** Adds rows to the batch that makes the change, the last one of a reorganisation, which is written in the same turn. */
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
