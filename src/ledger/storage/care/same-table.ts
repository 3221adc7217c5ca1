import type { Database } from '../database.js'
import { rangeOf } from '../rows/tables.js'
import { rowsAtOnce } from './table-digest.js'

/** Whether a table has the same rows in two databases: compared row by row, which takes less than a digest of both. */
export async function sameTable(one: Database, other: Database, tableByte: number): Promise<boolean> {
  const range = rangeOf(tableByte)
  const others = other.pages(range, rowsAtOnce)
  try {
    let ahead: [Buffer, Buffer][] = []
    for await (const page of one.pages(range, rowsAtOnce)) {
      for (const row of page) {
        // Pages of equal rows end at the same row, but nothing promises it.
        if (ahead.length === 0) ahead = ((await others.next()).value ?? []).toReversed()
        const expected = ahead.pop()
        if (expected === undefined || !row[0].equals(expected[0]) || !row[1].equals(expected[1])) return false
      }
    }
    return ahead.length === 0 && (await others.next()).done === true
  } finally {
    await others.return()
  }
}
