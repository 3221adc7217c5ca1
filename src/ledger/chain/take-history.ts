import { InvariantError } from '../../base/errors/rule-error.js'
import type { Database } from '../storage/database.js'
import { addCounters, noCounters } from '../storage/rows/day-rows.js'
import { joinedHeight } from '../storage/rows/prune-rows.js'
import { meta, tables } from '../storage/rows/tables.js'
import type { Overlay } from '../storage/write/overlay.js'

/** @tuning bytes: rows of the history that are written in one batch */
const batchBytes = 4 * 1024 * 1024
/** @tuning bytes: rows of the history that are read in one step */
const pageBytes = 256 * 1024

/** Tables of which a state has not all rows. No later block changes the rows of blocks up to it. */
const copied = [tables.header, tables.transaction, tables.confirm, tables.history, tables.undo]

/** A database that took a state, and how its rows are written between blocks. */
export interface HistoryTaker {
  readonly database: Database
  /** Writes rows that leave the active chain unchanged, staged between two blocks. */
  write(stage: (overlay: Overlay) => void | Promise<void>): Promise<void>
}

/**
 * Gives a database that began with a state the rows that it has not, from one whose chain ends with the block of that state and was
 * verified. What is cut short is done again; readers see nothing of it before the last batch.
 */
export async function takeHistory(
  { database, write }: HistoryTaker,
  verified: Database,
  signal: AbortSignal,
  bytesAtOnce = batchBytes,
): Promise<void> {
  if (meta.tip.get(verified)?.height !== joinedHeight(database)) {
    throw new InvariantError('the history does not end with the state')
  }
  let rows: [Buffer, Uint8Array][] = []
  let size = 0
  const flush = async () => {
    const some = rows
    ;[rows, size] = [[], 0]
    await write((overlay) => some.forEach(([key, value]) => overlay.put(key, value)))
  }
  const put = async (key: Buffer, value: Uint8Array) => {
    signal.throwIfAborted()
    rows.push([key, value])
    size += key.length + value.length
    if (size >= bytesAtOnce) await flush()
  }
  for (const table of copied) {
    for await (const page of verified.pages(table.range(), pageBytes)) {
      for (const [key, value] of page) await put(key, value)
    }
  }
  for await (const page of verified.pages(tables.mapRoot.range(), pageBytes)) {
    for (const [key, row] of page) {
      // Pages of before are not had, so that nothing below the state is proved.
      await put(key, tables.mapRoot.encode({ root: tables.mapRoot.decode(row).root, pages: [] }))
    }
  }
  await flush()
  const days = await verified.rows(tables.day.range())
  await write((overlay) => {
    for (const [key, row] of days) {
      const { fees } = tables.day.decode(row)
      const now = tables.day.get(overlay, tables.day.fields(key)[0])
      overlay.put(key, tables.day.encode(addCounters(now, { ...noCounters, fees })))
    }
    meta.days.put(overlay, 0)
    overlay.del(meta.pruned.key)
    overlay.del(meta.joined.key)
  })
}
