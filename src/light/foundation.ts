import type { KnownChain } from '../proofs/anchor.js'
import type { Trust } from '../proofs/trust.js'
import type { Server } from './ask-server.js'
import type { LightMemory, SeenBlock } from './light-memory.js'
import type { Signatures } from './signatures.js'

/** What a chain is followed by. */

export interface ChainOptions {
  readonly trust: Trust
  readonly signatures: Signatures
  /** Blocks above the one of an answer, on a chain without validators. */
  readonly confirmations: number
}

/** What stands behind the blocks of a chain: its validators, or the work on its headers. */
export interface Foundation {
  /** What checks of answers believe, when a block is the highest one seen. */
  known(seen: SeenBlock): Omit<KnownChain, 'genesis'>
  /** Asks a server what followed; `now` is in Unix milliseconds. Returns whether anything did. */
  follow(server: Server, now: number): Promise<boolean>
  /** What is remembered of it. */
  readonly memory: Omit<LightMemory, 'seen'>
  /** Counts what became known. */
  readonly changes: number
}
