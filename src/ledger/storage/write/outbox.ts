import { asBuffer, equalBytes } from '../../../base/primitives/bytes.js'
import { Reader } from '../../../base/primitives/codec.js'
import { readParentHeader } from '../../../base/primitives/header.js'
import type { RowBatch, Store } from '../native-level.js'
import { outboxHeadSize } from '../rows/outbox-row.js'
import { seal } from '../rows/sealed-row.js'
import type { ShippingRow } from '../rows/meta-rows.js'
import { type Key, meta, type OutboxRow, tables, type TipRow } from '../rows/tables.js'
import type { RowReader } from '../rows/row-reader.js'
import { outboxChanges, OutboxRows } from './outbox-rows.js'

/**
 * Changes of rows for shards, written in the batch that makes them. A stream of them has every batch since it began; where that cannot be
 * any more, it ends, and shards are filled again.
 */

/** How a database ships. */
export interface ShippingTerms {
  /** Most bytes of rows that wait. */
  readonly backlog: number
}

/** A batch of the stream, with the tip after it. */
export interface OutboxPosition {
  /** UUID of 16 bytes. */
  readonly stream: Uint8Array
  readonly sequence: number
  readonly digest: Uint8Array
  readonly height: number
  readonly hash: Uint8Array
  /** Unix seconds. */
  readonly time: number
}

/** The newest rows of the database. */
interface NewestRows extends RowReader {
  rows(range: { gte: Key; lt: Key }, options: { limit: number }): Promise<[Buffer, Buffer][]>
  scan(range: { gte: Key; lte: Key }): AsyncGenerator<[Buffer, Buffer], void, void>
}

/** A row of the outbox with the number of its batch. */
export type NumberedRow = OutboxRow & { readonly sequence: number }

/** Number and digest of a batch. */
interface Batch {
  readonly sequence: number
  readonly digest: Uint8Array
}

export class Outbox {
  readonly #level: Store
  readonly #rows: NewestRows
  #terms: ShippingTerms | undefined
  /** Undefined: no stream. */
  #row: ShippingRow | undefined
  #tip: { readonly row: TipRow; readonly time: number } | undefined
  #isOpen = false
  /** From the next batch on a stream is to have all. */
  #isBeginning = false
  /** The last batch of the stream that the loss of power leaves. */
  #synced = 0
  /** Bytes of the stream that are deleted. */
  #deleted = 0
  readonly #listeners = new Set<() => void>()

  constructor(level: Store, rows: NewestRows) {
    this.#level = level
    this.#rows = rows
  }

  /** Reads where the stream of the database is; without terms it ends with the next change of a shipped row. */
  async open(terms: ShippingTerms | undefined): Promise<void> {
    this.#terms = terms
    this.#row = meta.shipping.get(this.#rows)
    this.#isOpen = meta.reorganisation.get(this.#rows) !== undefined
    this.#synced = this.#row?.sequence ?? 0
    const [first] = await this.#rows.rows(tables.outbox.range(), { limit: 1 })
    const total = this.#row?.total ?? 0
    this.#deleted = first === undefined ? total : tables.outbox.decode(first[1]).total - first[1].length
  }

  /** The last batch of the stream; undefined without one. */
  get position(): OutboxPosition | undefined {
    return this.#row && this.#positionOf(this.#row)
  }

  /** Whether that batch is in the middle of a reorganisation, which no reader may see. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Number of the last batch that may be shipped: power may fail without losing it. */
  get synced(): number {
    return this.#synced
  }

  /** Bytes of rows that wait. */
  get size(): number {
    return this.#row === undefined ? 0 : this.#row.total - this.#deleted
  }

  /** Calls back after each batch of the stream that may be shipped, and when it ended; the returned function ends that. */
  onMoved(moved: () => void): () => void {
    this.#listeners.add(moved)
    return () => this.#listeners.delete(moved)
  }

  /** Collects the rows of a batch; undefined without a stream. */
  collector(): OutboxRows | undefined {
    return this.#row === undefined && !this.#isBeginning ? undefined : new OutboxRows()
  }

  /** Bytes that a batch has besides its own rows. */
  sizeOf(collected: OutboxRows | undefined): number {
    return collected === undefined || collected.bytes.length === 0 ? 0 : outboxHeadSize + collected.bytes.length
  }

  /** Has the batches from now on collected, for a stream that is about to begin. */
  foresee(): void {
    this.#isBeginning = true
  }

  /** Begins a stream with a batch, which is the first that it has. */
  begin(batch: RowBatch, stream: Uint8Array, { sequence, digest }: Batch): void {
    this.#isBeginning = false
    // No batch said how it moved before there was a stream.
    this.#tip = undefined
    this.#isOpen = meta.reorganisation.get(this.#rows) !== undefined
    this.#deleted = 0
    this.#keep(batch, { stream, sequence, digest, total: 0 })
  }

  /** Adds to a batch what it changes for shards. */
  stage(batch: RowBatch, collected: OutboxRows | undefined, { sequence, digest }: Batch): void {
    const row = this.#row
    if (collected?.isReorganising !== undefined) this.#isOpen = collected.isReorganising
    if (row === undefined || collected === undefined || collected.bytes.length === 0) return
    const size = this.sizeOf(collected)
    if (this.#terms === undefined || this.size + size > this.#terms.backlog) {
      this.#end(batch)
      return
    }
    const total = row.total + size
    if (collected.tip !== undefined) this.#tip = { row: collected.tip, time: this.#timeOf(collected.tip, collected) }
    const { height, hash, time } = this.#positionOf(row)
    const [before, digestBefore] = [row.sequence, row.digest]
    const isOpen = this.#isOpen ? 1 : 0
    const entry = { before, digestBefore, digest, height, hash, time, isOpen, total, rows: collected.bytes }
    putRow(batch, tables.outbox.key(sequence), tables.outbox.encode(entry))
    this.#keep(batch, { stream: row.stream, sequence, digest, total })
  }

  /** Notes that batches are written; deletes the rows of a stream that ended with them. */
  async written(sync: boolean): Promise<void> {
    const sequence = this.#row?.sequence ?? 0
    if (sequence === this.#synced || (!sync && sequence > 0)) return
    this.#synced = sequence
    for (const moved of this.#listeners) moved()
    if (sequence === 0) await this.clear()
  }

  /** Batches of the stream behind one that may be shipped, with their numbers. */
  after(sequence: number): AsyncGenerator<NumberedRow, void, void> {
    return this.#between(sequence, this.#synced)
  }

  /** Digest of the journal up to a batch of the stream; undefined if it is none, or its successor is gone. */
  async digestAt(sequence: number): Promise<Uint8Array | undefined> {
    if (sequence === this.#row?.sequence) return this.#row.digest
    for await (const { before, digestBefore } of this.#between(sequence, Number.MAX_SAFE_INTEGER)) {
      return before === sequence ? digestBefore : undefined
    }
    return undefined
  }

  /** Deletes the rows up to a batch that all shards have. `total`: bytes of the stream up to it. */
  async delete({ sequence, total }: { readonly sequence: number; readonly total: number }): Promise<void> {
    this.#deleted = total
    await this.#clear(sequence)
  }

  /** Deletes the rows of streams that ended. */
  async clear(): Promise<void> {
    await this.#clear(Number.MAX_SAFE_INTEGER)
  }

  async *#between(after: number, last: number): AsyncGenerator<NumberedRow, void, void> {
    const range = { gte: tables.outbox.key(after + 1), lte: tables.outbox.key(last) }
    for await (const [key, value] of this.#rows.scan(range)) {
      yield { sequence: tables.outbox.fields(key)[0], ...tables.outbox.decode(value) }
    }
  }

  #keep(batch: RowBatch, row: ShippingRow): void {
    this.#row = row
    putRow(batch, meta.shipping.key, meta.shipping.encode(row))
  }

  #end(batch: RowBatch): void {
    batch.del(meta.shipping.key)
    this.#row = undefined
  }

  #positionOf({ stream, sequence, digest }: ShippingRow): OutboxPosition {
    const row = this.#tip?.row ?? meta.tip.get(this.#rows)
    if (row === undefined) return { stream, sequence, digest, height: 0, hash: Buffer.alloc(32), time: 0 }
    this.#tip ??= { row, time: this.#timeOf(row) }
    return { stream, sequence, digest, ...row, time: this.#tip.time }
  }

  /** Time of the header of a tip, which the batch that moves to it has, or one before. */
  #timeOf({ hash }: TipRow, collected?: OutboxRows): number {
    const key = tables.header.key(hash)
    const row = (collected && find(collected, key)) ?? this.#rows.get(key)
    return row === undefined ? 0 : readParentHeader(new Reader(row)).time
  }

  async #clear(last: number): Promise<void> {
    await this.#level.clear({ gte: tables.outbox.key(0), lte: tables.outbox.key(last), keyEncoding: 'buffer' })
  }
}

function find(collected: OutboxRows, wanted: Key): Buffer | undefined {
  let found: Buffer | undefined
  for (const [key, sealed] of outboxChanges(collected.bytes)) if (equalBytes(key, wanted)) found = sealed
  return found
}

function putRow(batch: RowBatch, key: Key, value: Uint8Array): void {
  batch.put(key, seal(key, asBuffer(value)))
}
