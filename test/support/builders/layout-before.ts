import type { Database } from '../../../src/storage/database.js'
import { Overlay } from '../../../src/storage/overlay.js'
import { keys, layoutBefore, rangeOf, table } from '../../../src/storage/schema.js'

/** Makes the rows of a database what the layout before has: heads without ordinals, no index, the version. */
export async function toLayoutBefore(database: Database): Promise<void> {
  const overlay = new Overlay(database)
  for (const [key, value] of await database.rows(rangeOf(table.didHead))) overlay.put(key, value.subarray(0, 9))
  for (const number of [table.ordinal, table.posting, table.tokenCount, table.indexUndo]) {
    for (const key of await database.keys(rangeOf(number))) overlay.del(key)
  }
  overlay.put(keys.meta('version'), Uint8Array.of(layoutBefore))
  const tip = database.get(keys.meta('tip')) as Buffer
  await overlay.commit({ kind: 'header', hash: tip.subarray(0, 32), height: tip.readUInt32LE(32) }, { sync: true })
}
