import { equalBytes } from '../primitives/bytes.js'
import { type Database, damaged, writeBufferSize } from './database.js'
import { type JournalRow, journalDigest, journalRow } from './journal.js'
import { keys, schemaVersion } from './schema.js'

/**
 * LevelDB keeps at most two write buffers in its log. Rows beyond twice that, and a margin for what a row weighs in the
 * log, are in tables already and cannot be lost with it.
 */
const reach = 4 * writeBufferSize
const pageRows = 1000

/** What the journal says of the batches since the last clean point. */
export interface JournalSpan {
  /** The lowest tip height among them; undefined in an empty database. */
  readonly fromHeight: number | undefined
}

/**
 * Walks the journal back to the last clean point, or as far as a damaged log can have lost anything, and throws a
 * StorageError where a batch is missing.
 */
export async function checkJournal(database: Database): Promise<JournalSpan> {
  const version = database.get(keys.meta('version'))
  if (database.sequence === 0) {
    if (version !== undefined) throw damaged('the journal is gone')
    return { fromHeight: undefined }
  }
  if (version === undefined) throw damaged('the first batch is gone')
  if (version[0] !== schemaVersion) {
    throw damaged(`it has layout ${version[0]}, this program reads ${schemaVersion}`)
  }
  let expected = database.sequence
  let successor: JournalRow | undefined
  let bytes = 0
  let fromHeight = Infinity
  for (;;) {
    const range = { gte: keys.journal(0), lte: keys.journal(expected) }
    const rows = await database.rows(range, { reverse: true, limit: pageRows })
    for (const [key, value] of rows) {
      const sequence = Number(key.readBigUInt64BE(1))
      if (sequence !== expected) throw damaged(`batches ${sequence + 1} to ${expected} are gone`)
      if (successor !== undefined && !equalBytes(successor.previous, journalDigest(sequence, value))) {
        throw damaged(`batch ${sequence} is not the one its successor followed`)
      }
      const row = journalRow.decode(value)
      fromHeight = Math.min(fromHeight, row.height)
      bytes += row.bytes
      if (row.kind === 'checkpoint' || bytes > reach) return { fromHeight }
      successor = row
      expected--
    }
    if (rows.length < pageRows) break
  }
  // The journal is trimmed only far behind its end, so a walk that reaches its beginning must reach the first batch.
  if (expected > 0) throw damaged(`batches 1 to ${expected} are gone`)
  return { fromHeight }
}
