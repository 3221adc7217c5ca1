import type { Chain } from '../chain/chain.js'
import type { RuleError } from '../errors/rule-error.js'
import { parseDisplayHash } from '../primitives/bytes.js'
import type { Hash } from '../primitives/hash.js'
import type { Log } from '../runtime/env.js'
import type { PoolEntry } from './graph.js'

/** Transactions that broke a block of this node and are not taken again; the oldest goes first. */
const blamedKept = 1000

interface RefusedBlocksDependencies {
  readonly chain: Chain
  readonly log: Log
}

/** The pool that blocks are made of. */
interface Pool {
  get(txid: Hash): PoolEntry | undefined
  refuse(refused: readonly RefusedEntry[]): void
}

/** A pooled transaction that no block can bring, and why. */
export interface RefusedEntry {
  readonly entry: PoolEntry
  readonly error: RuleError
}

/** Blocks made of the pool that the own chain refused. None ought to be: each is a defect, and none may repeat. */
export class RefusedBlocks {
  readonly #pool: Pool
  readonly #parts: RefusedBlocksDependencies
  readonly #blamed = new Set<string>()
  #count = 0
  #last: { readonly height: number; readonly reason: string } | undefined

  constructor(pool: Pool, parts: RefusedBlocksDependencies) {
    this.#pool = pool
    this.#parts = parts
  }

  /** Since the start. */
  get count(): number {
    return this.#count
  }

  /** Why the last block was refused, as long as no block of its height is on the chain. */
  get reason(): string | undefined {
    return this.#last === undefined || this.#last.height <= this.#parts.chain.tip.header.height
      ? undefined
      : this.#last.reason
  }

  /** Whether a block was refused for a transaction, by its txid in display hex. */
  blames(txid: string): boolean {
    return this.#blamed.has(txid)
  }

  /**
   * Notes a refusal and takes the transaction that caused it out of the pool for good. False when it names none, or one that
   * was taken out for an earlier refusal: then only a block without transactions is sure to be another.
   */
  note(error: RuleError, height: number): boolean {
    const { code, message: reason, transaction } = error
    this.#count++
    this.#last = { height, reason: `${code}: ${reason}` }
    this.#parts.log.warn({ height, code, reason, transaction }, 'a block of our own was refused')
    if (transaction === undefined || this.#blamed.has(transaction)) return false
    this.#blamed.add(transaction)
    if (this.#blamed.size > blamedKept) this.#blamed.delete(this.#blamed.values().next().value as string)
    const entry = this.#pool.get(parseDisplayHash(transaction) as Hash)
    if (entry !== undefined) this.#pool.refuse([{ entry, error }])
    return true
  }
}
