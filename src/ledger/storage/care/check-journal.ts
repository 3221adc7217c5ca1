import { equalBytes } from '../../../base/primitives/bytes.js'
import { type Database, logReach } from '../database.js'
import { damaged, reindexHint, StorageError } from '../failure.js'
import { journalDigest, journalRowSize } from '../write/journal.js'
import type { JournalKind, JournalRow } from '../rows/journal-row.js'
import { meta, schemaVersion, tables } from '../rows/tables.js'

/** Journal rows read at once. */
const pageRows = 1000

/** Batches that do not change the row of the tip. */
const besideTheChain: readonly JournalKind[] = ['pool', 'peers', 'voting', 'shipping']

/** Result of the journal check: the batches since the last clean point. */
export interface JournalSpan {
  /** The lowest tip height among them; undefined in an empty database. */
  readonly fromHeight: number | undefined
}

/**
 * Walks the journal back to the last clean point, or as far as a damaged log can have lost rows. A missing batch is a
 * StorageError.
 */
export async function checkJournal(database: Database): Promise<JournalSpan> {
  const version = database.get(meta.version.key)
  if (database.sequence === 0) {
    if (version !== undefined) throw damaged('the journal is gone')
    return { fromHeight: undefined }
  }
  if (version === undefined) throw damaged('the first batch is gone')
  checkLayout(version[0])
  let expected = database.sequence
  let successor: JournalRow | undefined
  let tipSeen = false
  let bytes = 0
  let fromHeight = Infinity
  for (;;) {
    const range = { gte: tables.journal.key(0), lte: tables.journal.key(expected) }
    const rows = await database.rows(range, { reverse: true, limit: pageRows })
    for (const [key, value] of rows) {
      const [sequence] = tables.journal.fields(key)
      if (sequence !== expected) throw damaged(`batches ${sequence + 1} to ${expected} are gone`)
      if (successor !== undefined && !equalBytes(successor.previous, journalDigest(sequence, value))) {
        throw damaged(`batch ${sequence} is not the one its successor followed`)
      }
      const row = tables.journal.decode(value)
      // A batch beside the chain may have been assembled before the tip moved, and written after.
      if (!tipSeen && !besideTheChain.includes(row.kind)) {
        checkTip(database, row)
        tipSeen = true
      }
      fromHeight = Math.min(fromHeight, row.height)
      bytes += row.bytes + journalRowSize
      if (row.kind === 'checkpoint' || bytes > logReach) return { fromHeight }
      successor = row
      expected--
    }
    if (rows.length < pageRows) break
  }
  // The journal is trimmed only far behind its end, so a walk that reaches its beginning must reach the first batch.
  if (expected > 0) throw damaged(`batches 1 to ${expected} are gone`)
  return { fromHeight }
}

/** Refuses a database of another layout: its rows have another meaning. */
function checkLayout(layout: number | undefined): void {
  if (layout === schemaVersion) return
  const isOlder = layout !== undefined && layout < schemaVersion
  const remedy = isOlder ? `to build it again from its blocks, ${reindexHint}` : 'use a newer version'
  throw new StorageError(
    `the database has layout ${layout}, this version of didledger reads layout ${schemaVersion}; ${remedy}`,
  )
}

/** Checks that the tip row is the tip of the chain's last batch; otherwise one of the two is lost. */
function checkTip(database: Database, last: JournalRow): void {
  const tip = meta.tip.get(database)
  if (tip === undefined) throw damaged('the row of the tip is gone')
  if (tip.height !== last.height || !equalBytes(tip.hash, last.hash)) {
    throw damaged(`the tip has height ${tip.height}, the last batch left ${last.height}`)
  }
}
