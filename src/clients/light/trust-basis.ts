import type { KnownChain } from '../../identity/proofs/anchor.js'
import type { Trust } from '../../identity/proofs/trust-root.js'
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

/** Basis of the trust in blocks of a chain: its validators, or the work on its headers. */
export interface TrustBasis {
  /** Trusted data for checks of answers, when a block is the highest one seen. */
  known(seen: SeenBlock): Omit<KnownChain, 'genesis'>
  /**
   * Asks a server for what followed; `now` is in Unix milliseconds. Calls `found` with what is proved of it, also if the server fails then.
   * Returns whether anything followed.
   */
  follow(server: Server, now: number, found: (followed: Followed) => void): Promise<boolean>
  /** Returns the basis with what followed; the same value if that adds nothing or contradicts it. */
  apply(followed: Followed): TrustBasis
  /** Its part of the saved state. */
  readonly memory: Omit<LightMemory, 'seen'>
}
