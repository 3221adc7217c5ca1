import { mapKey } from '../primitives/bytes.js'
import type { Hash } from '../primitives/hash.js'
import type { Transaction } from '../primitives/transaction.js'
import { type CommitInfo, type Database, Overlay } from '../storage/database.js'
import { keys, rangeOf, table, values } from '../storage/schema.js'
import { type DropReason, dropText } from './drop-reason.js'

/** A pooled transaction as it is kept across restarts. */
export interface StoredTransaction {
  readonly arrival: number
  readonly bytes: Uint8Array
}

/** The rows of the pool. Writes that come together share a batch. */
export class PoolStore {
  readonly #database: Database
  readonly #info: () => Omit<CommitInfo, 'kind'>
  readonly #droppedLimit: number
  /** By txid, the oldest first. */
  readonly #dropped = new Map<string, DropReason>()
  /** Of the last drop. */
  #order = 0
  /** Transactions of the block that is being written: nothing else is written of them. */
  readonly #mining = new Set<string>()
  /** Whether nothing is written of any transaction: another content is on its way. */
  #held = false
  #staged: Overlay
  #stagedSync = false
  #next: Promise<void> | undefined

  /** Remembers up to `droppedLimit` reasons. */
  constructor(database: Database, droppedLimit: number, info: () => Omit<CommitInfo, 'kind'>) {
    this.#database = database
    this.#droppedLimit = droppedLimit
    this.#info = info
    this.#staged = new Overlay(database)
  }

  /** What the pool held before, oldest first. */
  async load(): Promise<StoredTransaction[]> {
    const dropped = await this.#database.rows(rangeOf(table.dropped))
    const inOrder = dropped.map(([key, value]) => ({ txid: key.subarray(1), ...values.dropped.decode(value) }))
    inOrder.sort((a, b) => a.order - b.order)
    for (const { txid, reason: text } of inOrder) this.#dropped.set(mapKey(txid), { kind: 'stored', text })
    this.#order = inOrder.at(-1)?.order ?? 0
    const rows = await this.#database.rows(rangeOf(table.pool))
    return rows.map(([, value]) => values.pool.decode(value)).sort((a, b) => a.arrival - b.arrival)
  }

  /**
   * Lets the rows of a transaction go in the batch of the block that brings it, and with them a write that may be on its way.
   * Until {@link mined} nothing is written of it any more.
   */
  mining(txid: Hash, options: { pooled: boolean }, overlay: Overlay): void {
    this.#mining.add(mapKey(txid))
    const rows = [...(options.pooled ? [keys.pool(txid)] : [])]
    if (this.#dropped.delete(mapKey(txid))) rows.push(keys.dropped(txid))
    for (const row of rows) {
      overlay.del(row)
      if (this.#staged.changes.has(mapKey(row))) this.#staged.del(row)
    }
  }

  /** The blocks that {@link mining} spoke of are on disk. */
  mined(): void {
    this.#mining.clear()
  }

  /** Until {@link release} nothing is written, and no reason is kept: {@link replace} is about to say what the pool holds. */
  hold(): void {
    this.#held = true
  }

  /** Has the batch of a rewind leave the rows of `content` and none of `present`, whatever waits to be written. */
  replace(
    present: readonly { readonly transaction: Transaction }[],
    content: readonly { readonly transaction: Transaction; readonly arrival: number }[],
    overlay: Overlay,
  ): void {
    for (const { key, value } of this.#staged.changes.values()) {
      if (value === undefined) overlay.del(key)
      else overlay.put(key, value)
    }
    this.#staged = new Overlay(this.#database)
    for (const { transaction } of present) overlay.del(keys.pool(transaction.hash))
    for (const { transaction, arrival } of content) {
      const { hash, bytes } = transaction
      overlay.put(keys.pool(hash), values.pool.encode({ arrival, bytes }))
      if (this.#dropped.delete(mapKey(hash))) overlay.del(keys.dropped(hash))
    }
  }

  /** What {@link replace} said is on disk. */
  release(): void {
    this.#held = false
  }

  /** Stages rows that are not of one transaction; resolves when they are on disk, and everything before them. */
  settle(stage: (overlay: Overlay) => void): Promise<void> {
    stage(this.#staged)
    return this.#flushSoon()
  }

  /** Lets the row of a transaction go that turns out to be mined. */
  remove(txid: Hash): Promise<void> {
    this.#staged.del(keys.pool(txid))
    return this.#flushSoon()
  }

  /** Why a transaction left the pool without being mined; undefined if it did not, or too long ago. */
  reason(txid: Hash): DropReason | undefined {
    return this.#dropped.get(mapKey(txid))
  }

  /** Keeps a transaction; resolves when it is on disk. */
  put(txid: Hash, stored: StoredTransaction, options: { sync: boolean }): Promise<void> {
    if (this.#silent(txid)) return this.#database.idle()
    this.#staged.put(keys.pool(txid), values.pool.encode(stored))
    if (this.#dropped.delete(mapKey(txid))) this.#staged.del(keys.dropped(txid))
    this.#stagedSync ||= options.sync
    return this.#flushSoon()
  }

  /** Forgets a transaction and keeps the reason. */
  drop(txid: Hash, reason: DropReason): Promise<void> {
    if (this.#silent(txid)) return Promise.resolve()
    this.#staged.del(keys.pool(txid))
    this.#staged.put(keys.dropped(txid), values.dropped.encode({ order: ++this.#order, reason: dropText(reason) }))
    // Dropped again, it is the newest again.
    this.#dropped.delete(mapKey(txid))
    this.#dropped.set(mapKey(txid), reason)
    while (this.#dropped.size > this.#droppedLimit) {
      const [oldest] = this.#dropped.keys()
      this.#dropped.delete(oldest as string)
      this.#staged.del(keys.dropped(Buffer.from(oldest as string, 'latin1')))
    }
    return this.#flushSoon()
  }

  /** Resolves when everything handed over so far is written. */
  async flushed(): Promise<void> {
    while (this.#next !== undefined) await this.#next
    await this.#database.idle()
  }

  #silent(txid: Hash): boolean {
    return this.#held || this.#mining.has(mapKey(txid))
  }

  /** One batch is under way and the next gathers: what comes meanwhile shares it. The batch of a block is not waited for. */
  #flushSoon(): Promise<void> {
    this.#next ??= this.#database.free().then(async () => {
      const staged = this.#staged
      const sync = this.#stagedSync
      this.#staged = new Overlay(this.#database)
      this.#stagedSync = false
      this.#next = undefined
      await staged.commit({ ...this.#info(), kind: 'pool' }, { sync })
    })
    return this.#next
  }
}
