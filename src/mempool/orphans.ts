import { mapKey } from '../primitives/bytes.js'
import type { Hash } from '../primitives/hash.js'
import type { Transaction } from '../primitives/transaction.js'
import type { Clock } from '../runtime/env.js'

export const orphanLimits = {
  /** Transactions that wait. */
  count: 100,
  /** Bytes of all of them. */
  bytes: 5_000_000,
  /** Transactions of one sender. */
  ofSender: 25,
  /** Bytes of one transaction. */
  size: 1_000_000,
  /** Transactions that one may wait for. */
  parents: 64,
  /** Milliseconds that one may wait. */
  age: 10 * 60 * 1000,
} as const

/** Limits of a keeper; {@link orphanLimits} unless told otherwise. */
export type OrphanLimits = { readonly [Name in keyof typeof orphanLimits]: number }

/** A transaction that may become valid by what is still to come. */
export interface Orphan {
  readonly transaction: Transaction
  /** The number of the peer that sent it. */
  readonly sender: number
  /** Transactions it builds on that are neither in the pool nor on the chain; none where it waits for a block. */
  readonly parents: readonly Hash[]
  /** Milliseconds since the Unix epoch. */
  readonly arrival: number
}

/** Keeps transactions that came before what they build on. By digest: a copy with wrong signatures displaces no other. */
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
   * Keeps one that came at `arrival`, now unless told otherwise; whether it did. The oldest of whoever has most here make
   * room. One that is too large, waits for too many, or has waited for too long is not kept.
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

  /** Takes out those that wait for a transaction, oldest first. */
  takeChildren(parent: Hash): Orphan[] {
    const id = mapKey(parent)
    return this.#take(({ parents }) => parents.some((awaited) => mapKey(awaited) === id))
  }

  /** Takes out all that have not waited for too long, oldest first; those go as well. */
  takeAll(): Orphan[] {
    return this.#take(() => true).filter(({ arrival }) => !this.#expired(arrival))
  }

  /** Forgets what a peer sent. */
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

  /** The sender with the most bytes here. */
  #greatest(): number {
    const bytes = new Map<number, number>()
    for (const { sender, transaction } of this.#held.values()) {
      bytes.set(sender, (bytes.get(sender) ?? 0) + transaction.bytes.length)
    }
    const [first] = [...bytes].sort(([, a], [, b]) => b - a)
    return (first as [number, number])[0]
  }

  #remove({ transaction }: Orphan): void {
    if (this.#held.delete(mapKey(transaction.digest))) this.#bytes -= transaction.bytes.length
  }

  #expired(arrival: number): boolean {
    return arrival + this.#limits.age <= this.#clock.now()
  }
}
