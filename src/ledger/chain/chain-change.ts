import type { Block } from '../../base/primitives/block.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import type { Overlay } from '../storage/write/overlay.js'

/** A received block, and on a chain with validators its confirm. */
export interface IncomingBlock {
  readonly block: Uint8Array
  readonly confirm?: Uint8Array
  /** The decoded block, when its body check is done already. */
  readonly matched?: Block
}

/** A block that joined or left the active chain. */
export interface ChangedBlock {
  readonly header: Header
  /** The block, for a change of one bounded batch. Undefined in a reorganisation: use {@link read}. */
  readonly block?: Block
  /** DIDs that its operations changed; empty for a disconnected block, and in a reorganisation. */
  readonly dids: readonly string[]
  /** Ids of the credentials that it declares or revokes; empty where `dids` is. */
  readonly credentials: readonly string[]
  /** Returns the block, read from its rows if necessary. Call before the next change. */
  read(): Promise<Block>
}

/** A block of a one-batch change. */
export interface HeldBlock extends ChangedBlock {
  readonly block: Block
}

export function heldBlock(block: Block, changed: Partial<Pick<ChangedBlock, 'dids' | 'credentials'>> = {}): HeldBlock {
  return { header: block.header, block, dids: [], credentials: [], ...changed, read: () => Promise.resolve(block) }
}

/** One change of the active chain: disconnected blocks newest first, connected blocks oldest first. */
export interface ChainChange {
  /** Whether it is of unbounded size: then its blocks are not held. */
  readonly reorganised: boolean
  readonly disconnected: readonly ChangedBlock[]
  readonly connected: readonly ChangedBlock[]
}

/** A component with rows of its own in step with the chain. */
export interface ChainIndexer {
  /** Called before a reorganisation connects a block; readers see the old branch, and keep it on failure. */
  foresee?(block: Block): Promise<void>
  /** Adds rows to the (last) batch of the change, which is written in the same turn. */
  stage(overlay: Overlay, change: ChainChange): void
  /** Called when a change is on disk; the next change waits for it. */
  follow(change: ChainChange): Promise<void>
}

/** A component that a rewind restores to an earlier state together with the chain. */
export interface Restoration {
  /** Adds its rows to the last batch of the rewind; they override rows of indexers. */
  stage(overlay: Overlay): void
  /** Adopts the restored state. Everything before its first await runs in the turn in which the tip moves. */
  follow(): Promise<void>
}

/** Bounds of a batch in which documents are given up; tests need small ones. */
export interface DocumentBatch {
  readonly bytes?: number
  readonly operations?: number
}

/** Operations reserved for jobs that run between blocks. */
export interface ChainWriter {
  /**
   * Rewinds the chain of a devnet to one of its blocks, with other components. The blocks above are deleted, not kept as side
   * blocks: each may be accepted again. They go in one batch, or in several when they are very many.
   */
  rewind(to: Hash, restorations: readonly Restoration[]): Promise<void>
  /**
   * Puts blocks in place of those above a block of a devnet, in one batch, as a reorganisation does. Those that leave are deleted,
   * or with `keep` become side blocks. A block breaks a rule → nothing changes, and it rejects with a BlockRunError; so does too
   * much that would leave, with a RuleError.
   */
  replace(
    to: Hash,
    blocks: readonly IncomingBlock[],
    options?: { readonly restorations?: readonly Restoration[]; readonly keep?: boolean },
  ): Promise<void>
  /** Has some of the blocks up to a height give up their transactions; resolves with the highest that has by now. */
  prune(to: number): Promise<number>
  /**
   * Has some of the operations up to a height give up the documents that they superseded; resolves with the highest block of which all have
   * by now.
   */
  pruneDocuments(to: number, batch?: DocumentBatch): Promise<number>
}

/** A change made by one batch. */
export function changeOf({
  disconnected = [],
  connected = [],
}: Partial<Record<'disconnected' | 'connected', readonly HeldBlock[]>>): ChainChange {
  return { reorganised: false, disconnected, connected }
}
