import type { Steps } from '../../base/primitives/steps.js'
import type { Transaction } from '../../base/primitives/transaction.js'
import type { Log } from '../../base/runtime/env.js'
import { type DropReason, dropText } from './drop-reason.js'
import type { PoolGraph } from './graph.js'
import type { PoolEntry } from './pool-entry.js'
import { type Reevaluation, waitingOf } from './reevaluation.js'
import type { Returning } from './returning-operations.js'
import type { PoolStore } from './store.js'

export interface RemovalsOptions {
  /** The entries; another object after a rewind. */
  graph(): PoolGraph
  readonly store: PoolStore
  readonly reevaluation: Reevaluation
  readonly log: Log
  /** Has those evaluated that were queued. */
  reevaluate(): void
}

/** Takes entries out of the pool with what builds on them, and keeps the reason of each. */
export class Removals {
  readonly #options: RemovalsOptions

  constructor(options: RemovalsOptions) {
    this.#options = options
  }

  /** Drops what arrived before `oldest`, in Unix milliseconds. */
  *expireSteps(oldest: number): Steps {
    for (const entry of this.#graph.entries()) {
      if (entry.arrival < oldest) yield* this.dropSteps(entry, { kind: 'expired' })
      yield
    }
  }

  /** Drops an entry, if still in the pool, with its descendants: one leaf after another, so that the rest is valid in between. */
  *dropSteps(entry: PoolEntry, reason: DropReason): Steps {
    if (this.#graph.get(entry.transaction.hash) !== entry) return
    if (entry.did?.credential !== undefined) {
      this.drop([entry], reason)
      return
    }
    for (let leaf = this.#graph.leafOf(entry); leaf !== undefined; leaf = this.#graph.leafOf(entry)) {
      this.drop([leaf], reason)
      yield
    }
  }

  /**
   * Drops entries and their descendants. What follows a declare or revoke may hold without it, as that changes no DID: unless the
   * pool is full, or all of them are to go, it is re-evaluated.
   */
  drop(entries: readonly PoolEntry[], reason: DropReason): void {
    if (entries.length === 0) return
    const own = new Set(entries)
    const mayStay =
      reason.kind !== 'full' && reason.kind !== 'removed' && entries.every(({ did }) => did?.credential !== undefined)
    for (const entry of this.#graph.withDescendants(entries)) {
      if (mayStay && !own.has(entry)) this.reevaluateLater(entry)
      else {
        this.#graph.remove(entry)
        this.forget(entry.transaction, reason)
      }
    }
    if (mayStay) this.#options.reevaluate()
  }

  /** Drops entries on which nothing builds. */
  replaceOutbid(outbid: readonly PoolEntry[], { txid }: Transaction): void {
    for (const entry of outbid) {
      this.#graph.remove(entry)
      this.forget(entry.transaction, { kind: 'replaced', by: txid })
    }
  }

  /** Drops replaced entries, but for those that return. */
  replace(replaced: readonly PoolEntry[], reason: DropReason, returning: Returning): void {
    for (const entry of replaced) this.#graph.remove(entry)
    for (const entry of replaced) if (!returning.add(entry)) this.forget(entry.transaction, reason)
  }

  /** Takes an entry out until it is evaluated again. */
  reevaluateLater(entry: PoolEntry): void {
    const { reevaluation } = this.#options
    this.#graph.remove(entry)
    reevaluation.add(waitingOf(entry))
  }

  /** Notes why a transaction that is no entry is not in the pool, and removes its row. */
  forget({ hash, txid }: Transaction, reason: DropReason): void {
    const { log, store } = this.#options
    log.debug({ txid, reason: dropText(reason) }, 'a transaction left the pool')
    store
      .drop(hash, reason)
      .catch((error: unknown) => log.error({ error: String(error) }, 'the pool cannot be written'))
  }

  get #graph(): PoolGraph {
    return this.#options.graph()
  }
}
