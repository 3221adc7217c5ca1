import { concat, mapKey } from '../../base/primitives/bytes.js'
import { Reader, Writer } from '../../base/primitives/codec.js'
import { type Database, damaged } from './database.js'
import { present } from './did-rows.js'
import { Overlay } from './overlay.js'
import { keys, type Location, rangeOf, table } from './schema.js'
import { type TipRow, values } from './row-values.js'
import { putIndexUndoFrom, TokenIndexChanges } from './token-index.js'

/**
 * Changes a database of layout 2 into one of layout 3: heads of DIDs get the ordinal, and the index of the documents
 * (tables 16 to 18) is made. It goes through the DIDs in the order of their creation, in batches with the position reached, so
 * that it goes on where a kill ended it. The version is written last.
 */

/** How many DIDs of the database are done. */
export interface MigrationProgress {
  readonly done: number
  readonly total: number
}

/** Sizes of the work, which tests make small. */
export interface MigrationSizes {
  /** Bytes of documents after which a batch is written. Rows of a document are at most 16 times as large. */
  readonly batchBytes: number
  /** DIDs after which a batch is written. */
  readonly batchDids: number
  /** DIDs that are put into order in memory at once. */
  readonly sortedAtOnce: number
}

const usualSizes: MigrationSizes = { batchBytes: 1024 * 1024, batchDids: 10_000, sortedAtOnce: 1 << 18 }

/** The layout with the index. */
const layoutMade = 3
/** Bytes of a head in the layout before. */
const headBytesBefore = 9
/** DIDs whose rows are read at once. */
const readAtOnce = 64
/** Rows deleted in one batch. */
const deletedAtOnce = 10_000
const madeTables = [table.ordinal, table.posting, table.tokenCount, table.indexUndo] as const

/** Where the work goes on. */
interface Position {
  /** Ordinal of the next DID. */
  readonly ordinal: number
  /** Place of the create before it; -1: none. */
  readonly after: number
}

/** The first operation of a DID. */
interface Create {
  /** {@link placeOf} its position. */
  readonly place: number
  /** {@link mapKey} of the program hash: small in memory. */
  readonly did: string
}

/** Position of a transaction as one number, in chain order. */
function placeOf({ height, index }: Location): number {
  return height * 0x1_0000 + index
}

function locationAt(place: number): Location {
  return { height: Math.floor(place / 0x1_0000), index: place % 0x1_0000 }
}

export async function migrateIndex(
  database: Database,
  progress: (progress: MigrationProgress) => void,
  sizes: Partial<MigrationSizes> = {},
): Promise<void> {
  await new IndexMigration(database, { ...usualSizes, ...sizes }).run(progress)
}

class IndexMigration {
  readonly #database: Database
  readonly #sizes: MigrationSizes
  readonly #tip: TipRow

  constructor(database: Database, sizes: MigrationSizes) {
    this.#database = database
    this.#sizes = sizes
    this.#tip = values.tip.decode(present(database.get(keys.meta('tip')), 'the row of the tip'))
  }

  async run(progress: (progress: MigrationProgress) => void): Promise<void> {
    let position = await this.#begin()
    let total: number | undefined
    for (;;) {
      const { creates, count } = await this.#nextCreates(position.after)
      total ??= count
      progress({ done: position.ordinal, total })
      for (let start = 0; start < creates.length;) {
        const done = await this.#batch(creates, start, position.ordinal)
        start += done
        position = { ordinal: position.ordinal + done, after: (creates[start - 1] as Create).place }
        progress({ done: position.ordinal, total })
      }
      if (creates.length < this.#sizes.sortedAtOnce) break
    }
    const overlay = new Overlay(this.#database)
    overlay.del(keys.meta('migration'))
    overlay.put(keys.meta('version'), Uint8Array.of(layoutMade))
    putIndexUndoFrom(overlay, this.#tip.height + 1)
    await this.#commit(overlay, true)
  }

  /** The position that the last batch left. Batches of a program that knows nothing of it, in between, make it worthless. */
  async #begin(): Promise<Position> {
    const row = this.#database.get(keys.meta('migration'))
    if (row !== undefined) {
      const reader = new Reader(row)
      const [ordinal, sequence, location] = [reader.u32(), reader.u64(), values.location.decode(reader.take(6))]
      if (sequence === BigInt(this.#database.sequence)) return { ordinal, after: placeOf(location) }
    }
    await this.#deleteMade()
    return { ordinal: 0, after: -1 }
  }

  async #deleteMade(): Promise<void> {
    for (const number of madeTables) {
      for (;;) {
        const rows = await this.#database.rows(rangeOf(number), { limit: deletedAtOnce })
        if (rows.length === 0) break
        const overlay = new Overlay(this.#database)
        overlay.del(keys.meta('migration'))
        for (const [key] of rows) overlay.del(key)
        await this.#commit(overlay)
      }
    }
  }

  /** The next DIDs in the order of creation, as many as are put into order at once, and the number of all. */
  async #nextCreates(after: number): Promise<{ creates: Create[]; count: number }> {
    const most = this.#sizes.sortedAtOnce
    let creates: Create[] = []
    let count = 0
    const shorten = () => (creates = creates.sort((a, b) => a.place - b.place).slice(0, most))
    for await (const [key, value] of this.#database.scan(rangeOf(table.didOperation))) {
      if (key.readUInt32BE(22) !== 0) continue
      count++
      const place = placeOf(values.location.decode(value.subarray(0, 6)))
      if (place <= after) continue
      creates.push({ place, did: mapKey(key.subarray(1, 22)) })
      if (creates.length >= 2 * most) shorten()
    }
    return { creates: shorten(), count }
  }

  /** Writes the rows of some DIDs in one batch; resolves with their number. */
  async #batch(creates: readonly Create[], start: number, ordinal: number): Promise<number> {
    const { batchBytes, batchDids } = this.#sizes
    const overlay = new Overlay(this.#database)
    const index = new TokenIndexChanges()
    const end = Math.min(creates.length, start + batchDids)
    let next = start
    for (let bytes = 0; next < end && bytes < batchBytes;) {
      const some = creates.slice(next, Math.min(end, next + readAtOnce))
      const headKeys = some.map(({ did }) => keys.didHead(Buffer.from(did, 'latin1')))
      const documentKeys = some.map(({ place }) => keys.didDocument(locationAt(place)))
      const rows = await this.#database.getMany([...headKeys, ...documentKeys])
      for (const [i, { place }] of some.entries()) {
        if (bytes >= batchBytes) break
        const own = ordinal + next++ - start
        const head = present(rows[i], 'the head of a DID').subarray(0, headBytesBefore)
        overlay.put(headKeys[i] as Buffer, concat(head, new Writer(4).u32(own).finish()))
        index.create(overlay, own, locationAt(place))
        const document = rows[some.length + i]
        if ((document === undefined) !== (head[0] === 1))
          throw damaged(`the document of DID ${own} is not as its head says`)
        if (document !== undefined) index.change(own, { before: undefined, after: document })
        bytes += document?.length ?? 0
      }
    }
    await index.put(overlay)
    const after = locationAt((creates[next - 1] as Create).place)
    const position = new Writer(18)
      .u32(ordinal + next - start)
      .u64(BigInt(this.#database.sequence + 1))
      .bytes(values.location.encode(after))
    overlay.put(keys.meta('migration'), position.finish())
    await this.#commit(overlay)
    return next - start
  }

  #commit(overlay: Overlay, sync = false): Promise<void> {
    const { hash, height } = this.#tip
    return overlay.commit({ kind: 'layout', hash, height }, { sync })
  }
}
