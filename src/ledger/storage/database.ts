/**
 * Holds all rows of a node in LevelDB: opening, reading, and one way to write.
 *
 *   changes -> Overlay.put, del, encoded, coins -> Overlay.commit -> Database.commit     rows by rows/tables.ts
 *                -> #put: BatchRows, checksum and digest                assembled in slices
 *                -> #inOrder -> #write: journal row, Outbox              one LevelDB batch
 *   key, range -> get, getMany, rows, scan, pages -> StoredRows -> unseal -> value; StorageError if the row was changed
 *
 * Imports consensus, did, did-index, errors, primitives, proofs, runtime; used by gateway, engine, shipping, chain, state, mirror, prover, mempool, events, voting, network, resolver,
 * devnet, api, node, cli, heads.
 * - All of a batch is on disk, with its journal row, or none of it.
 * - After a failed write none is made: `failure` rejects and the node stops.
 * - While readers are held (`hold`) they see the rows of before; only the writer of the chain reads `newest`.
 */
import { existsSync, readdirSync } from 'node:fs'
import { InvariantError } from '../../base/errors/rule-error.js'
import { zeroHash } from '../../base/primitives/hash.js'
import { finish } from '../../base/primitives/steps.js'
import { runCooperatively } from '../../base/runtime/cooperative.js'
import { BatchRows } from './write/batch-rows.js'
import { type Changes, changesOf, type CommitInfo, type RowsBelow } from './write/row-changes.js'
import { CoinCache } from './write/coin-cache.js'
import { UnloggedRows } from './write/unlogged-rows.js'
import { Outbox, type OutboxPosition, type ShippingTerms } from './write/outbox.js'
import type { OutboxRows } from './write/outbox-rows.js'
import { accessFailure, openFailure } from './failure.js'
import { journalDigest, journalRowSize } from './write/journal.js'
import type { JournalRow } from './rows/journal-row.js'
import { tables } from './rows/tables.js'
import { NativeLevel, type RowBatch, rowBatchOf, type Store } from './native-level.js'
import { seal } from './rows/sealed-row.js'
import { encodings, type FrozenRows, frozenRows, type RowSource, StoredRows, View } from './stored-rows.js'

/**
 * A damaged log can lose no more than two of these.
 * @tuning bytes: rows that LevelDB gathers before it writes a table
 */
const writeBufferSize = 8 * 1024 * 1024
/**
 * A start checks the indexes of all of them, and LevelDB keeps no more than a thousand open.
 * @tuning bytes: a table of LevelDB
 */
const tableSize = 8 * 1024 * 1024
/** @tuning bytes: cache of LevelDB */
export const cacheSize = 32 * 1024 * 1024
/**
 * Bytes behind the end of the log beyond which nothing needs a check. LevelDB keeps at most two write buffers in its log. Rows
 * beyond twice that, with a margin for their overhead in the log, are in tables already.
 */
export const logReach = 4 * writeBufferSize
/** Journal rows kept behind the last one: their bytes alone exceed what the log can lose. */
const journalKept = Math.ceil(logReach / journalRowSize)
/** Journal rows deleted at once. */
const journalTrim = 10_000

/** Hashes, keys and signatures do not compress. */
const levelOptions = { ...encodings, writeBufferSize, maxFileSize: tableSize, compression: false }

/** Changes that are assembled without a pause. */
const smallBatch = 64

/** LevelDB's methods beyond the common interface; its typings omit them because browsers lack them. */
interface LevelMethods {
  compactRange(start: Buffer, end: Buffer): Promise<void>
}
interface LevelStatics {
  repair(location: string): Promise<void>
}

/** Changes in LevelDB's form, and their part of the journal row. */
interface Batch {
  readonly batch: RowBatch
  readonly bytes: number
  readonly operations: Uint8Array
  /** Its rows for shards; undefined where there are none. */
  readonly shipped: OutboxRows | undefined
}

/** All rows as they were at a batch of the stream for shards. */
export interface OutboxView {
  readonly at: OutboxPosition
  /** Whether it is in the middle of a reorganisation, which no reader may see. */
  readonly isOpen: boolean
  readonly rows: FrozenRows
}

/** The rows on disk, even while readers are held at an earlier state; an overlay over them can be written. */
export type NewestRows = StoredRows & Required<Pick<RowsBelow, 'commit'>> & { readonly coins: CoinCache }

export class Database extends StoredRows implements RowSource {
  readonly #level: Store
  #sequence = 0
  #previous: Uint8Array = zeroHash
  #floor = 0
  /** The last of the writes, which follow each other. */
  #writing: Promise<void> = Promise.resolve()
  /** All batches so far, and the last of the pool's. */
  #begun: Promise<void> = Promise.resolve()
  #begunOfPool: Promise<void> = Promise.resolve()
  /** For the writer alone, while readers are held at an earlier state. */
  readonly newest: NewestRows
  /** Batches on their way to shards. */
  readonly outbox: Outbox

  /** Rejects when a write fails. */
  readonly failure: Promise<never>
  #fail!: (error: unknown) => void

  private constructor(level: Store) {
    super(level)
    this.#level = level
    this.newest = Object.assign(new StoredRows(level), {
      coins: new CoinCache(),
      commit: (...batch: Parameters<Database['commit']>) => this.commit(...batch),
    })
    this.outbox = new Outbox(level, this.newest)
    this.failure = new Promise((_, reject) => (this.#fail = reject))
    this.failure.catch(() => {})
  }

  /**
   * Opens the LevelDB in a directory, creating it if absent, with a cache of so many bytes. `openTables`: tables whose indexes stay in
   * memory, about a thousand by default. `ships`: its batches are for shards too.
   * `durable`: whether it survives a failure of power, the default; without it a batch need not wait for the disk.
   */
  static async open(
    directory: string,
    cache: number = cacheSize,
    {
      openTables,
      ships,
      durable = true,
    }: { openTables?: number; ships?: ShippingTerms | undefined; durable?: boolean } = {},
  ): Promise<Database> {
    // LevelDB takes a directory without CURRENT for an empty one, and deletes the files in it.
    const createIfMissing =
      !existsSync(directory) || !readdirSync(directory).some((name) => /^MANIFEST|\.(ldb|log)$/.test(name))
    const options = { ...levelOptions, cacheSize: cache, createIfMissing }
    const level = new NativeLevel(directory, {
      ...options,
      ...(openTables !== undefined && { maxOpenFiles: openTables }),
    })
    level.durable = durable
    return Database.over(level, directory, ships)
  }

  /** Uses any abstract-level store; tests pass memory-level or one that fails on purpose. */
  static async over(level: Store, directory = 'memory', ships?: ShippingTerms): Promise<Database> {
    try {
      await level.open()
    } catch (error) {
      throw openFailure(error, directory)
    }
    const database = new Database(level)
    try {
      await database.#findJournal()
      await database.outbox.open(ships)
    } catch (error) {
      await database.close()
      throw error
    }
    return database
  }

  /** Opens a database for reading without a check of its journal. */
  static async openDamaged(directory: string, cache: number = cacheSize): Promise<Database> {
    const level = new NativeLevel(directory, { ...levelOptions, cacheSize: cache })
    try {
      await level.open()
    } catch (error) {
      throw openFailure(error, directory)
    }
    return new Database(level)
  }

  /** Lets LevelDB rebuild its index of files from the tables and logs in a directory. */
  static async repair(directory: string): Promise<void> {
    try {
      await (NativeLevel as typeof NativeLevel & LevelStatics).repair(directory)
    } catch (error) {
      throw openFailure(error, directory)
    }
  }

  /**
   * Holds readers at the current rows until {@link release}, so that they see several batches as one change. Must not be called
   * twice.
   */
  hold(): void {
    if (this.view !== undefined) throw new InvariantError('readers are held already')
    this.view = new View(this.#level.snapshot())
  }

  /** Lets readers see all written rows, from this turn of the event loop on. */
  release(): void {
    this.view?.retire()
    this.view = undefined
  }

  /** The rows that readers see now, for a reader of many steps. */
  freeze(): FrozenRows {
    const held = this.view
    const view = held ?? new View(this.#level.snapshot())
    return frozenRows(this.#level, view, () => {
      if (held === undefined) view.retire()
    })
  }

  /** Runs work at once: all rows are here. Readers of several rows see to it themselves that these are of one state. */
  async settle<T>(work: () => T | Promise<T>): Promise<T> {
    return work()
  }

  /** The rows on disk, even while readers are held at an earlier state, for a reader of many steps. */
  freezeNewest(): FrozenRows {
    const view = new View(this.#level.snapshot())
    return frozenRows(this.#level, view, () => view.retire())
  }

  /** The writer's cache of coins; undefined while readers are held at earlier rows. */
  get coins(): CoinCache | undefined {
    return this.view === undefined ? this.newest.coins : undefined
  }

  /**
   * Writes one batch atomically with its journal row, after all earlier ones; only rows of the pool do not wait for a batch that
   * is still being assembled. Its place among the others is that of this call, also where changes are still being made. It survives a kill of the process; with `sync` it is on disk when this resolves.
   */
  commit(changes: Changes | Promise<Changes>, info: CommitInfo, options: { sync: boolean }): Promise<void> {
    const ofPool = info.kind === 'pool'
    const [begun, earlier] = [this.#begun, ofPool ? this.#begunOfPool : this.#begun]
    const write = this.#put(changes).then(
      async (batch) => {
        await earlier
        await this.#inOrder(() => this.#write(batch, info, options))
      },
      (error: Error) => this.#inOrder(() => Promise.reject(error)),
    )
    write.catch(() => this.newest.coins.clear())
    if (ofPool) this.#begunOfPool = write
    this.#begun = Promise.all([begun, write]).then(() => {})
    this.#begun.catch((error: unknown) => this.#fail(error))
    return write
  }

  /** Writes rows of another database as they are there, those of its journal too: into a copy that nothing else writes. */
  async putCopied(rows: readonly (readonly [Buffer, Buffer])[]): Promise<void> {
    const batch = this.unlogged()
    for (const [key, value] of rows) batch.put(key, value)
    await batch.write()
  }

  /**
   * A batch without a journal row, for a database that is of no use before its {@link checkpoint}: a start would not find that the log has lost it.
   * LevelDB takes rows in the order of their keys without merging them, and the journal's are before all of the chain.
   */
  unlogged(): UnloggedRows {
    return new UnloggedRows(rowBatchOf(this.#level))
  }

  /** Merges the tables until each key is in one of them. */
  async compact(): Promise<void> {
    await this.#begun
    await this.#compact(Buffer.of(0), Buffer.of(0xff, 0xff))
  }

  /**
   * Begins a stream of batches for shards, under a UUID of 16 bytes; one that there was ends. Returns the rows with which it begins, which the
   * caller closes.
   */
  async beginOutbox(stream: Uint8Array, info: Omit<CommitInfo, 'kind'>): Promise<OutboxView> {
    this.outbox.foresee()
    const empty = await this.#put(changesOf(new Map()))
    return this.#alone(async () => {
      await this.outbox.clear()
      await this.#write(empty, { ...info, kind: 'shipping' }, { sync: true }, stream)
    }) as Promise<OutboxView>
  }

  /** The rows at the last batch of the stream; undefined without one. */
  async freezeOutbox(): Promise<OutboxView | undefined> {
    return this.#alone(() => Promise.resolve())
  }

  /** Resolves when every batch so far is written. */
  async idle(): Promise<void> {
    await this.#begun
  }

  /** Resolves when no write is in progress, even if batches are still being assembled. */
  async free(): Promise<void> {
    await this.#writing
  }

  /** The last journal row's sequence number; 0 before the first. */
  get sequence(): number {
    return this.#sequence
  }

  /**
   * Moves all rows from the log into tables, then writes a checkpoint row. Rows before that one can no longer be lost with the
   * log.
   */
  async checkpoint(info: Omit<CommitInfo, 'kind'>): Promise<void> {
    await this.flush()
    await this.commit(changesOf(new Map()), { ...info, kind: 'checkpoint' }, { sync: true })
  }

  /** Moves the rows that were written from LevelDB's memory into a table, in which no later row is. */
  async flush(): Promise<void> {
    await this.#begun
    // Compacting an empty range does that first; there is no call for it alone.
    await this.#compact(Buffer.of(0xff), Buffer.of(0xff, 0xff))
  }

  async #compact(from: Buffer, to: Buffer): Promise<void> {
    if (!isLevelDb(this.#level)) return
    await this.#level.compactRange(from, to).catch((error: unknown) => {
      throw accessFailure(error, 'written')
    })
  }

  async close(): Promise<void> {
    await this.#begun.catch(() => {})
    this.release()
    await this.#level.close()
  }

  /** Assembles changes; in slices if there are many. */
  async #put(made: Changes | Promise<Changes>): Promise<Batch> {
    const changes = made instanceof Promise ? await made : made
    const batch = rowBatchOf(this.#level)
    const shipped = this.outbox.collector()
    const rows = new BatchRows(batch, shipped)
    if (changes.count > smallBatch) await runCooperatively(changes.steps(rows))
    else finish(changes.steps(rows))
    return { batch, bytes: rows.bytes + this.outbox.sizeOf(shipped), operations: rows.digest(), shipped }
  }

  /** Works between the batches before this call and those after it, and returns the rows then. */
  async #alone(work: () => Promise<void>): Promise<OutboxView | undefined> {
    const begun = this.#begun
    let view: OutboxView | undefined
    const done = begun.then(() =>
      this.#inOrder(async () => {
        await work()
        const { position: at, isOpen } = this.outbox
        if (at !== undefined) view = { at, isOpen, rows: this.freezeNewest() }
      }),
    )
    this.#begun = Promise.all([begun, done]).then(() => {})
    this.#begun.catch((error: unknown) => this.#fail(error))
    await done
    return view
  }

  /** Runs a write after those before it. After a failed write none is made, because later ones build on it. */
  #inOrder(run: () => Promise<void>): Promise<void> {
    this.#writing = this.#writing.then(() =>
      run().catch((error: unknown) => {
        throw accessFailure(error, 'written')
      }),
    )
    return this.#writing
  }

  async #write(
    { batch, bytes, operations, shipped }: Batch,
    info: CommitInfo,
    { sync }: { sync: boolean },
    /** UUID of a stream of batches that begins with this one. */
    stream?: Uint8Array,
  ): Promise<void> {
    const row: JournalRow = {
      kind: info.kind,
      height: info.height,
      hash: info.hash,
      bytes,
      previous: this.#previous,
      operations,
    }
    const sequence = this.#sequence + 1
    const encoded = tables.journal.encode(row)
    batch.put(tables.journal.key(sequence), seal(tables.journal.key(sequence), encoded))
    const digest = journalDigest(sequence, encoded)
    if (stream === undefined) this.outbox.stage(batch, shipped, { sequence, digest })
    else this.outbox.begin(batch, stream, { sequence, digest })
    await batch.write({ sync })
    this.#sequence = sequence
    this.#previous = digest
    await this.outbox.written(sync)
    if (sequence - this.#floor > journalKept + journalTrim) await this.#trimJournal()
  }

  async #trimJournal(): Promise<void> {
    const floor = this.#sequence - journalKept
    await this.#level.clear({ gte: tables.journal.key(0), lt: tables.journal.key(floor), ...encodings })
    this.#floor = floor
  }

  async #findJournal(): Promise<void> {
    const [last] = await this.rows(tables.journal.range(), { reverse: true, limit: 1 })
    if (last === undefined) return
    this.#sequence = tables.journal.fields(last[0])[0]
    this.#previous = journalDigest(this.#sequence, last[1])
    const [first] = await this.rows(tables.journal.range(), { limit: 1 })
    this.#floor = tables.journal.fields((first as [Buffer, Buffer])[0])[0]
  }
}

function isLevelDb(level: Store): level is Store & LevelMethods {
  return level instanceof NativeLevel
}
