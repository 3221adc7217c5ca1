import { mapKey } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Transaction } from '../../base/primitives/transaction.js'
import type { Clock } from '../../base/runtime/env.js'

export const orphanLimits = {
  /** @limit count: orphans: transactions whose inputs are not known yet */
  count: 100,
  /** @limit bytes: all orphans */
  bytes: 5_000_000,
  /** @limit count: orphans of one sender */
  ofSender: 25,
  /** @limit bytes: an orphan */
  size: 1_000_000,
  /** @limit count: unknown transactions that an orphan waits for */
  parents: 64,
  /** @limit ms: age of an orphan */
  age: 10 * 60 * 1000,
} as const

/** Limits of the orphans; {@link orphanLimits} by default. */
export type OrphanLimits = { readonly [Name in keyof typeof orphanLimits]: number }

/** A transaction that a later transaction or block may make valid. */
export interface Orphan {
  readonly transaction: Transaction
  /** Id of the peer that sent it. */
  readonly sender: number
  /** Parents neither in the pool nor on the chain; none for one that waits for a block. */
  readonly parents: readonly Hash[]
  /** Milliseconds since the Unix epoch. */
  readonly arrival: number
}

/** Transactions that arrived before their parents. Keyed by digest: a copy with wrong signatures displaces no other. */
export class Orphans {
  readonly #clock: Clock
  readonly #limits: OrphanLimits
  /** In order of arrival. */
  readonly #held = new Map<string, Orphan>()
  #bytes = 0

  constructor(clock: Clock, limits: OrphanLimits = orphanLimits) {
    this.#clock = clock
    this.#limits = limits
  }

  get size(): number {
    return this.#held.size
  }

  get bytes(): number {
    return this.#bytes
  }

  has(digest: Hash): boolean {
    return this.#held.has(mapKey(digest))
  }

  /**
   * Adds an orphan that arrived at `arrival` (default: now); whether it was kept. Evicts the oldest of the sender with most
   * bytes. Refuses one too large, too old, or with too many missing parents.
   */
  add(transaction: Transaction, sender: number, parents: readonly Hash[], arrival = this.#clock.now()): boolean {
    const { bytes, digest } = transaction
    if (bytes.length > this.#limits.size || parents.length > this.#limits.parents || this.#expired(arrival))
      return false
    if (this.has(digest)) return true
    this.#held.set(mapKey(digest), { transaction, sender, parents, arrival })
    this.#bytes += bytes.length
    this.#makeRoom(sender)
    return this.has(digest)
  }

  /** Removes and returns the children of a transaction, oldest first. */
  takeChildren(parent: Hash): Orphan[] {
    const id = mapKey(parent)
    return this.#take(({ parents }) => parents.some((awaited) => mapKey(awaited) === id))
  }

  /** Removes all orphans and returns those that have not expired, oldest first. */
  takeAll(): Orphan[] {
    return this.#take(() => true).filter(({ arrival }) => !this.#expired(arrival))
  }

  /** Drops the orphans of a peer. */
  forget(sender: number): void {
    this.#take((orphan) => orphan.sender === sender)
  }

  #take(wanted: (orphan: Orphan) => boolean): Orphan[] {
    const taken = [...this.#held.values()].filter(wanted)
    taken.forEach((orphan) => this.#remove(orphan))
    return taken
  }

  #makeRoom(sender: number): void {
    while (this.#of(sender).length > this.#limits.ofSender) this.#remove(this.#of(sender)[0] as Orphan)
    while (this.#held.size > this.#limits.count || this.#bytes > this.#limits.bytes) {
      this.#remove(this.#of(this.#greatest())[0] as Orphan)
    }
  }

  #of(sender: number): Orphan[] {
    return [...this.#held.values()].filter((orphan) => orphan.sender === sender)
  }

  /** The sender with the most bytes held. */
  #greatest(): number {
    const bytes = new Map<number, number>()
    for (const { sender, transaction } of this.#held.values()) {
      bytes.set(sender, (bytes.get(sender) ?? 0) + transaction.bytes.length)
    }
    const [first] = [...bytes].sort(([, a], [, b]) => b - a)
    return (first as [number, number])[0]
  }

  #remove({ transaction }: Orphan): void {
    if (this.#held.delete(transaction.digestKey)) this.#bytes -= transaction.bytes.length
  }

  #expired(arrival: number): boolean {
    return arrival + this.#limits.age <= this.#clock.now()
  }
}
