import { emptyHistory, entryBytes, extendHistory } from '../../identity/proofs/history.js'
import { forEachCooperatively } from '../../base/runtime/cooperative.js'
import type { Database } from './database.js'
import { present } from './did-rows.js'
import { historyEntry } from './history-entry.js'
import { Overlay } from './overlay.js'
import type { MigrationProgress } from './migrate-index.js'
import { keys, rangeOf, schemaVersion, table } from './schema.js'
import { type DidOperationRow, type TipRow, values } from './row-values.js'

/**
 * Changes a database of layout 3 into one of layout 4: the row of each operation of a DID gets its entry in the history of that DID,
 * from its transaction and header. Rows that have theirs are passed over, so that a kill does no harm. The version is written last.
 */

/** Bytes of the row of an operation in layout 3: height u32, index u16, txid. */
const rowBytesBefore = 38
/** Rows changed in one batch. */
const batchRows = 10_000
/** Bytes of the key of an operation without its number. */
const ofDid = 22

/** The row of an operation with its key. */
type Row = readonly [key: Buffer, value: Buffer]

export async function migrateHistories(
  database: Database,
  progress: (progress: MigrationProgress) => void,
  { rowsAtOnce = batchRows }: { readonly rowsAtOnce?: number } = {},
): Promise<void> {
  await new HistoryMigration(database, progress).run(rowsAtOnce)
}

class HistoryMigration {
  readonly #database: Database
  readonly #tip: TipRow
  readonly #progress: (progress: MigrationProgress) => void
  /** The operation before the next one. */
  #last: { readonly key: Buffer; readonly row: DidOperationRow } | undefined
  #done = 0

  constructor(database: Database, progress: (progress: MigrationProgress) => void) {
    this.#database = database
    this.#progress = progress
    this.#tip = values.tip.decode(present(database.get(keys.meta('tip')), 'the row of the tip'))
  }

  async run(rowsAtOnce: number): Promise<void> {
    let total = 0
    for await (const [key] of this.#operations()) if (isFirst(key)) total++
    let some: Row[] = []
    for await (const row of this.#operations()) {
      some.push(row)
      if (some.length < rowsAtOnce) continue
      await this.#batch(some)
      some = []
      this.#progress({ done: this.#done, total })
    }
    await this.#batch(some)
    this.#progress({ done: this.#done, total })
    const overlay = new Overlay(this.#database)
    overlay.put(keys.meta('version'), Uint8Array.of(schemaVersion))
    await this.#commit(overlay, true)
  }

  #operations(): AsyncIterable<Row> {
    return this.#database.scan(rangeOf(table.didOperation))
  }

  async #batch(rows: readonly Row[]): Promise<void> {
    const overlay = new Overlay(this.#database)
    await forEachCooperatively(rows, ([key, value]) => {
      const isDone = value.length > rowBytesBefore
      const row = isDone ? values.didOperation.decode(value) : this.#lengthened(key, value)
      if (!isDone) overlay.put(key, values.didOperation.encode(row))
      if (isFirst(key)) this.#done++
      this.#last = { key, row }
    })
    if (overlay.changes.size > 0) await this.#commit(overlay)
  }

  #lengthened(key: Buffer, value: Buffer): DidOperationRow {
    const location = values.location.decode(value.subarray(0, 6))
    const entry = historyEntry(this.#database, location, value.subarray(6, rowBytesBefore))
    const before = this.#last?.key.subarray(0, ofDid).equals(key.subarray(0, ofDid)) === true ? this.#last : undefined
    if ((before === undefined) !== isFirst(key)) present(undefined, 'the operation of a DID before another')
    return {
      ...entry,
      index: location.index,
      digest: extendHistory(before?.row.digest ?? emptyHistory, entryBytes(entry)),
    }
  }

  #commit(overlay: Overlay, sync = false): Promise<void> {
    const { hash, height } = this.#tip
    return overlay.commit({ kind: 'layout', hash, height }, { sync })
  }
}

function isFirst(key: Buffer): boolean {
  return key.readUInt32BE(ofDid) === 0
}
