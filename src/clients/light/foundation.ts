import type { KnownChain } from '../../identity/proofs/anchor.js'
import type { Trust } from '../../identity/proofs/trust.js'
import type { ValidatorList } from '../../identity/proofs/validator-list.js'
import type { HeaderChain } from '../../identity/proofs/work.js'
import type { Server } from './ask-server.js'
import type { LightMemory, SeenBlock } from './light-memory.js'
import type { Signatures } from './signatures.js'

/** The validators or the work behind the blocks of a chain, as a value. */

export interface ChainOptions {
  readonly trust: Trust
  readonly signatures: Signatures
  /** Blocks above the one of an answer, on a chain without validators. */
  readonly confirmations: number
}

/** The chain as a server showed it: all lists of validators, or all headers. */
export type Followed = readonly ValidatorList[] | HeaderChain

/** What stands behind the blocks of a chain: its validators, or the work on its headers. */
export interface Foundation {
  /** What checks of answers believe, when a block is the highest one seen. */
  known(seen: SeenBlock): Omit<KnownChain, 'genesis'>
  /**
   * Asks a server what followed; `now` is in Unix milliseconds. Hands out what is proved of it, also where the server fails then. Returns
   * whether anything followed.
   */
  follow(server: Server, now: number, found: (followed: Followed) => void): Promise<boolean>
  /** With what followed; the same value where that is no more than is known, or contradicts it. */
  apply(followed: Followed): Foundation
  /** What is remembered of it. */
  readonly memory: Omit<LightMemory, 'seen'>
}
