import { mapKey } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Transaction } from '../../base/primitives/transaction.js'
import type { Database } from '../storage/database.js'
import type { CommitInfo } from '../storage/write/row-changes.js'
import { Overlay } from '../storage/write/overlay.js'
import { tables } from '../storage/rows/tables.js'
import { type DropReason, dropText } from './drop-reason.js'

/** A pooled transaction as stored across restarts. */
export interface StoredTransaction {
  readonly arrival: number
  readonly bytes: Uint8Array
}

/** Rows of the pool. Concurrent writes share a batch. */
export class PoolStore {
  readonly #database: Database
  readonly #info: () => Omit<CommitInfo, 'kind'>
  readonly #droppedLimit: number
  /** Drop reasons by txid, oldest first. */
  readonly #dropped = new Map<string, DropReason>()
  /** Order number of the last drop. */
  #order = 0
  /** Transactions of the block being written: no other rows of them are written. */
  readonly #mining = new Set<string>()
  /** Whether writes of single transactions are suspended: another content is on its way. */
  #held = false
  #staged: Overlay
  #stagedSync = false
  #next: Promise<void> | undefined

  /** Remembers up to `droppedLimit` drop reasons. */
  constructor(database: Database, droppedLimit: number, info: () => Omit<CommitInfo, 'kind'>) {
    this.#database = database
    this.#droppedLimit = droppedLimit
    this.#info = info
    this.#staged = new Overlay(database)
  }

  /** Loads drop reasons, and the stored transactions, oldest first. */
  async load(): Promise<StoredTransaction[]> {
    const dropped = await this.#database.rows(tables.dropped.range())
    const inOrder = dropped.map(([key, value]) => ({ txid: key.subarray(1), ...tables.dropped.decode(value) }))
    inOrder.sort((a, b) => a.order - b.order)
    for (const { txid, reason: text } of inOrder) this.#dropped.set(mapKey(txid), { kind: 'stored', text })
    this.#order = inOrder.at(-1)?.order ?? 0
    const rows = await this.#database.rows(tables.pool.range())
    return rows.map(([, value]) => tables.pool.decode(value)).sort((a, b) => a.arrival - b.arrival)
  }

  /**
   * Deletes the rows of a transaction in the batch of the block that mines it, with any staged write. Until {@link mined} no
   * row of it is written.
   */
  mining(transaction: Pick<Transaction, 'hash' | 'hashKey'>, { pooled }: { pooled: boolean }, overlay: Overlay): void {
    // Its hash as bytes is made for rows alone: of the blocks of a sync there are none.
    const { hashKey } = transaction
    this.#mining.add(hashKey)
    if (pooled) this.#deleteWith(overlay, tables.pool.key(transaction.hash))
    if (this.#dropped.delete(hashKey)) this.#deleteWith(overlay, tables.dropped.key(transaction.hash))
  }

  #deleteWith(overlay: Overlay, row: Buffer): void {
    overlay.del(row)
    if (this.#staged.changes.has(mapKey(row))) this.#staged.del(row)
  }

  /** The blocks passed to {@link mining} are on disk. */
  mined(): void {
    this.#mining.clear()
  }

  /** Suspends writes and drop reasons until {@link release}; {@link replace} sets the content. */
  hold(): void {
    this.#held = true
  }

  /** Sets the rows of the pool to `content` in the batch of a rewind: writes staged rows, deletes those of `present`. */
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
    for (const { transaction } of present) overlay.del(tables.pool.key(transaction.hash))
    for (const { transaction, arrival } of content) {
      const { hash, bytes } = transaction
      overlay.put(tables.pool.key(hash), tables.pool.encode({ arrival, bytes }))
      if (this.#dropped.delete(mapKey(hash))) overlay.del(tables.dropped.key(hash))
    }
  }

  /** The content set by {@link replace} is on disk. */
  release(): void {
    this.#held = false
  }

  /** Stages rows not of one transaction; resolves when they and all earlier ones are on disk. */
  settle(stage: (overlay: Overlay) => void): Promise<void> {
    stage(this.#staged)
    return this.#flushSoon()
  }

  /** Deletes the row of a transaction that turns out to be mined. */
  remove(txid: Hash): Promise<void> {
    this.#staged.del(tables.pool.key(txid))
    return this.#flushSoon()
  }

  /** Drop reason of a transaction; undefined if there is none, or it was forgotten. */
  reason(txid: Hash): DropReason | undefined {
    return this.#dropped.get(mapKey(txid))
  }

  /** Stores a transaction; resolves when it is on disk. */
  put(txid: Hash, stored: StoredTransaction, options: { sync: boolean }): Promise<void> {
    if (this.#silent(txid)) return this.#database.idle()
    this.#staged.put(tables.pool.key(txid), tables.pool.encode(stored))
    if (this.#dropped.delete(mapKey(txid))) this.#staged.del(tables.dropped.key(txid))
    this.#stagedSync ||= options.sync
    return this.#flushSoon()
  }

  /** Deletes a transaction and stores the drop reason. */
  drop(txid: Hash, reason: DropReason): Promise<void> {
    if (this.#silent(txid)) return Promise.resolve()
    this.#staged.del(tables.pool.key(txid))
    this.#staged.put(
      tables.dropped.key(txid),
      tables.dropped.encode({ order: ++this.#order, reason: dropText(reason) }),
    )
    // Dropped again → newest again.
    this.#dropped.delete(mapKey(txid))
    this.#dropped.set(mapKey(txid), reason)
    while (this.#dropped.size > this.#droppedLimit) {
      const [oldest] = this.#dropped.keys()
      this.#dropped.delete(oldest as string)
      this.#staged.del(tables.dropped.key(Buffer.from(oldest as string, 'latin1')))
    }
    return this.#flushSoon()
  }

  /** Resolves when everything staged so far is written. */
  async flushed(): Promise<void> {
    while (this.#next !== undefined) await this.#next
    await this.#database.idle()
  }

  #silent(txid: Hash): boolean {
    return this.#held || this.#mining.has(mapKey(txid))
  }

  /** One batch is written while the next one gathers. Does not wait for the batch of a block. */
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
