import { equalBytes } from '../../base/primitives/bytes.js'
import type { Database } from '../storage/database.js'
import { provedFrom } from '../storage/rows/map/map-rows.js'
import { tables } from '../storage/rows/tables.js'

/**
 * Whether roots of the map and pages of before are those of a replay, and none is missing: a node that synced, or that made its map
 * when it was older, has those of the last blocks from a height on.
 */
export async function sameMap(held: Database, made: Database): Promise<boolean> {
  for await (const [key, row] of held.scan(tables.mapRoot.range())) {
    const expected = made.get(key)
    if (expected === undefined) return false
    if (!equalBytes(tables.mapRoot.decode(row).root, tables.mapRoot.decode(expected).root)) return false
  }
  const from = Math.max(provedFrom(held), provedFrom(made)) + 1
  for await (const [key, row] of made.scan({ ...tables.mapRoot.range(), gte: tables.mapRoot.key(from) })) {
    if (held.get(key)?.equals(row) !== true) return false
    const height = key.readUInt32BE(1)
    for (const page of tables.mapRoot.decode(row).pages) {
      const before = tables.mapPageBefore.key(page, height)
      const expected = made.get(before)
      if (expected === undefined || held.get(before)?.equals(expected) !== true) return false
    }
  }
  return true
}
