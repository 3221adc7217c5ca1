import type { AbstractIterator } from 'abstract-level'
import { accessFailure } from './failure.js'
import type { Store } from './native-level.js'
import type { Rows } from './rows/row-reader.js'
import { unseal } from './rows/sealed-row.js'

type Snapshot = ReturnType<Store['snapshot']>
type StoreIterator = AbstractIterator<Store, Buffer, Buffer>
export const encodings = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const

/** Maximum rows of a page whose rows are so small that the byte limit does not apply. */
const pageRowsAtMost = 1000

export interface Range {
  readonly gte?: Buffer
  readonly gt?: Buffer
  readonly lt?: Buffer
  readonly lte?: Buffer
}

/** Selection within a range: at most `limit` rows; `reverse` reads from its end. */
export interface RowsOptions {
  readonly limit?: number
  readonly reverse?: boolean
  /** Bytes that LevelDB reads in one step. */
  readonly highWaterMarkBytes?: number
}

/** The order of the rows in pages: from the beginning of the range, or from its end. */
export type PagesOrder = Pick<RowsOptions, 'reverse'>

/** Reads of rows in order, and of many at a time. */
export interface OrderedRows extends Rows {
  get(key: Buffer): Buffer | undefined
  getMany(wanted: Buffer[]): Promise<(Buffer | undefined)[]>
  /** Has rows at hand for {@link get} where each of them would else be fetched alone; where all rows are here it does not ask which. */
  load(wanted: () => readonly Buffer[]): Promise<void>
  rows(range: Range, options?: RowsOptions): Promise<[Buffer, Buffer][]>
  pages(range: Range, bytes: number, order?: PagesOrder): AsyncGenerator<[Buffer, Buffer][], void, void>
}

/** Source of answers: the rows of a node, in its own database or in another engine. */
export interface RowSource extends OrderedRows {
  scan(range: Range): AsyncGenerator<[Buffer, Buffer], void, void>
  freeze(): FrozenRows
  /** Runs work that only reads until all rows that it asked {@link get} for are there, and are of one state. */
  settle<T>(work: () => T | Promise<T>): Promise<T>
}

/** The rows as they were at one moment, whatever is written later. They take disk space until {@link close}. */
export interface FrozenRows extends OrderedRows {
  /** The first row of the table of a key whose key is not below that one. All calls share one iterator, and wait for each other. */
  seek(key: Buffer): Promise<[Buffer, Buffer] | undefined>
  close(): void
}

/** Reads the rows of a store and checks what it reads: those of now, or of a held state. A StorageError if a row was changed. */
export class StoredRows implements Rows {
  readonly #level: Store
  /** The held state; undefined: the newest rows. A call that takes several steps keeps to the one at its beginning. */
  protected view: View | undefined

  constructor(level: Store, view?: View) {
    this.#level = level
    this.view = view
  }

  get(key: Buffer): Buffer | undefined {
    const stored = this.#read(() => this.#level.getSync(key, optionsOf(this.view)))
    return stored === undefined ? undefined : unseal(key, stored)
  }

  async getMany(wanted: Buffer[]): Promise<(Buffer | undefined)[]> {
    let stored: (Buffer | undefined)[]
    try {
      stored = await this.#level.getMany(wanted, optionsOf(this.view))
    } catch (error) {
      throw accessFailure(error, 'read')
    }
    return stored.map((value, i) => (value === undefined ? undefined : unseal(wanted[i] as Buffer, value)))
  }

  /** Does nothing: {@link get} reads where the rows are. */
  async load(): Promise<void> {}

  /** Rows of a range in order, at most `limit`. */
  async rows(range: Range, options: RowsOptions = {}, view = this.view): Promise<[Buffer, Buffer][]> {
    let stored: [Buffer, Buffer][]
    const leave = view?.enter()
    try {
      stored = await this.#level.iterator({ ...range, ...options, ...optionsOf(view) }).all()
    } catch (error) {
      throw accessFailure(error, 'read')
    } finally {
      leave?.()
    }
    return stored.map(([key, value]) => [key, unseal(key, value)])
  }

  /** Keys of a range in order, without their values. */
  async keys(range: Range, view = this.view): Promise<Buffer[]> {
    const leave = view?.enter()
    try {
      return await this.#level.keys({ ...range, ...optionsOf(view) }).all()
    } catch (error) {
      throw accessFailure(error, 'read')
    } finally {
      leave?.()
    }
  }

  /** Rows of a range in order, in portions: for ranges of unknown length. */
  async *scan(range: Range, view = this.view): AsyncGenerator<[Buffer, Buffer], void, void> {
    const iterator = this.#read(() => this.#level.iterator({ ...range, ...optionsOf(view) }))
    const leave = view?.enter()
    try {
      for (;;) {
        const rows = await iterator.nextv(1000)
        if (rows.length === 0) return
        for (const [key, value] of rows) yield [key, unseal(key, value)]
      }
    } catch (error) {
      throw accessFailure(error, 'read')
    } finally {
      await iterator.close()
      leave?.()
    }
  }

  /**
   * Rows of a range, unaffected by later writes, in pages of about `bytes`. Each page is read while the caller works on the one before; a
   * caller that stops early leaves nothing open.
   */
  async *pages(
    range: Range,
    bytes: number,
    order: PagesOrder = {},
    view = this.view,
  ): AsyncGenerator<[Buffer, Buffer][], void, void> {
    const options: RowsOptions = { ...order, highWaterMarkBytes: bytes }
    const iterator = this.#read(() => this.#level.iterator({ ...range, ...options, ...optionsOf(view) }))
    const leave = view?.enter()
    const read = () => {
      const rows = iterator.nextv(pageRowsAtMost)
      // A failure after the caller has stopped reading does not matter.
      rows.catch(() => {})
      return rows
    }
    try {
      let ahead = read()
      for (;;) {
        const rows = await ahead
        if (rows.length === 0) return
        ahead = read()
        for (const row of rows) row[1] = unseal(row[0], row[1])
        yield rows
      }
    } catch (error) {
      throw accessFailure(error, 'read')
    } finally {
      await iterator.close()
      leave?.()
    }
  }

  #read<T>(read: () => T): T {
    try {
      return read()
    } catch (error) {
      throw accessFailure(error, 'read')
    }
  }
}

/** The rows of a state, until they are closed; `end` is called then. */
export function frozenRows(level: Store, view: View, end: () => void): FrozenRows {
  const leave = view.enter()
  const rows = new StoredRows(level, view)
  const seeker = new Seeker(view, () => level.iterator(optionsOf(view)))
  return {
    get: (key) => rows.get(key),
    getMany: (wanted) => rows.getMany(wanted),
    load: () => rows.load(),
    rows: (range, options) => rows.rows(range, options),
    pages: (range, bytes, order) => rows.pages(range, bytes, order),
    seek: (key) => seeker.seek(key),
    close: () => {
      seeker.close()
      end()
      leave()
    },
  }
}

/** A held state for readers. LevelDB keeps its rows until the last reader that began with it is done. */
export class View {
  readonly snapshot: Snapshot
  #readers = 0
  #retired = false

  constructor(snapshot: Snapshot) {
    this.snapshot = snapshot
  }

  /** Keeps the snapshot for a reader of several steps; the returned function releases it. */
  enter(): () => void {
    this.#readers++
    return () => {
      this.#readers--
      this.#closeIfDone()
    }
  }

  /** Closes it once the last reader is done; new ones must not enter. */
  retire(): void {
    this.#retired = true
    this.#closeIfDone()
  }

  #closeIfDone(): void {
    if (!this.#retired || this.#readers > 0) return
    // Closing the store closes its snapshots too.
    this.snapshot.close().catch(() => {})
  }
}

/** Reads single rows by their place in the order of keys, with an iterator that is opened once: opening one takes longer than to read. */
class Seeker {
  readonly #view: View
  readonly #open: () => StoreIterator
  #iterator: StoreIterator | undefined
  #reading: Promise<unknown> = Promise.resolve()

  constructor(view: View, open: () => StoreIterator) {
    this.#view = view
    this.#open = open
  }

  seek(key: Buffer): Promise<[Buffer, Buffer] | undefined> {
    const leave = this.#view.enter()
    const row = this.#reading.then(() => this.#read(key)).finally(leave)
    this.#reading = row.catch(() => {})
    return row
  }

  /** Closes the iterator once what was asked for is read. */
  close(): void {
    // Closing the store closes its iterators too.
    this.#reading.then(() => this.#iterator?.close()).catch(() => {})
  }

  async #read(key: Buffer): Promise<[Buffer, Buffer] | undefined> {
    try {
      this.#iterator ??= this.#open()
      this.#iterator.seek(key)
      const row = await this.#iterator.next()
      return row === undefined || row[0][0] !== key[0] ? undefined : [row[0], unseal(row[0], row[1])]
    } catch (error) {
      throw accessFailure(error, 'read')
    }
  }
}

function optionsOf(view: View | undefined): typeof encodings & { snapshot?: Snapshot } {
  return view === undefined ? encodings : { ...encodings, snapshot: view.snapshot }
}
