import type { ResolvedTransaction } from '../did/resolution.js'
import { RuleError } from '../errors/rule-error.js'

/**
 * Only a miner can make larger ones than the pool accepts.
 * @limit count: transactions of a history read at once
 */
const transactionsAtOnce = 8

export interface DidHistoryOptions {
  readonly did: string
  readonly status: 0 | 1 | 2
  /** Number of operations of the DID. */
  readonly count: number
  /**
   * Reads the operations from number `start` on, before number `end`, newest first; undefined once the block of this history is
   * off the active chain.
   */
  read(start: number, end: number): Promise<readonly ResolvedTransaction[] | undefined>
}

/** All operations of a DID as of one block, read a few at a time. */
export class DidHistory {
  readonly did: string
  readonly status: 0 | 1 | 2
  readonly #options: DidHistoryOptions

  constructor(options: DidHistoryOptions) {
    this.did = options.did
    this.status = options.status
    this.#options = options
  }

  /** The newest operations, at most `most`, newest first: the same ones each time, or `busy` after a reorganisation. */
  async *pages(most = Infinity): AsyncGenerator<readonly ResolvedTransaction[], void, void> {
    const { did, count, read } = this.#options
    const last = Math.max(0, count - most)
    for (let end = count; end > last;) {
      const start = Math.max(last, end - transactionsAtOnce)
      const page = await read(start, end)
      if (page === undefined) {
        throw new RuleError('busy', `the chain was reorganised while the history of ${did} was read; ask again`)
      }
      yield page
      end = start
    }
  }
}
