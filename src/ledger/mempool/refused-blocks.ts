import type { Chain } from '../chain/chain.js'
import type { RuleError } from '../../base/errors/rule-error.js'
import { parseDisplayHash } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Log } from '../../base/runtime/env.js'
import type { PoolEntry } from './pool-entry.js'

/** @tuning count: transactions that broke a block of this node, refused until it restarts; the oldest leaves first */
const blamedKept = 1000

interface RefusedBlocksDependencies {
  readonly chain: Chain
  readonly log: Log
}

/** The pool that templates select from. */
interface Pool {
  get(txid: Hash): PoolEntry | undefined
  refuse(refused: readonly RefusedEntry[]): void
}

/** A pooled transaction that cannot be mined, and why. */
export interface RefusedEntry {
  readonly entry: PoolEntry
  readonly error: RuleError
}

/** Own blocks that the own chain refused. Each is a defect, and none may repeat. */
export class RefusedBlocks {
  readonly #pool: Pool
  readonly #dependencies: RefusedBlocksDependencies
  readonly #blamed = new Set<string>()
  #count = 0
  #last: { readonly height: number; readonly reason: string } | undefined

  constructor(pool: Pool, dependencies: RefusedBlocksDependencies) {
    this.#pool = pool
    this.#dependencies = dependencies
  }

  /** Refused blocks since the start. */
  get count(): number {
    return this.#count
  }

  /** Reason of the last refusal, until a block of its height is on the chain. */
  get reason(): string | undefined {
    return this.#last === undefined || this.#last.height <= this.#dependencies.chain.tip.header.height
      ? undefined
      : this.#last.reason
  }

  /** Whether a block was refused for a transaction; `txid` in display hex. */
  blames(txid: string): boolean {
    return this.#blamed.has(txid)
  }

  /**
   * Records a refusal and removes the transaction that caused it from the pool for good. False when the error names none, or
   * one removed before: then only a block without transactions is sure to differ.
   */
  note(error: RuleError, height: number): boolean {
    const { code, message: reason, transaction } = error
    this.#count++
    this.#last = { height, reason: `${code}: ${reason}` }
    this.#dependencies.log.warn({ height, code, reason, transaction }, 'a block of our own was refused')
    if (transaction === undefined || this.#blamed.has(transaction)) return false
    this.#blamed.add(transaction)
    if (this.#blamed.size > blamedKept) this.#blamed.delete(this.#blamed.values().next().value as string)
    const entry = this.#pool.get(parseDisplayHash(transaction) as Hash)
    if (entry !== undefined) void this.#pool.refuse([{ entry, error }])
    return true
  }
}
