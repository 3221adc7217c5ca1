import type { Database } from '../../../src/ledger/storage/database.js'
import { Overlay } from '../../../src/ledger/storage/overlay.js'
import { keys, rangeOf, table } from '../../../src/ledger/storage/schema.js'

/** Rows changed in one batch. */
const atOnce = 10_000

/** What an older layout lacks, by its number: tables, and bytes at the end of rows. */
const changes = {
  2: {
    tables: [table.ordinal, table.posting, table.tokenCount, table.indexUndo],
    shorter: { [table.didHead]: 9 },
    meta: ['indexUndo'],
  },
  3: {
    tables: [table.mapPage, table.mapPageBefore, table.mapRoot],
    shorter: { [table.didOperation]: 38 },
    meta: ['didMap', 'proofs', 'dropped'],
  },
} as const

/** Makes the rows of a database what layout 3, or 2 had. */
export async function toOlderLayout(database: Database, layout: 2 | 3): Promise<void> {
  const tip = database.get(keys.meta('tip')) as Buffer
  let overlay = new Overlay(database)
  let changed = 0
  const commit = async () => {
    const info = { kind: 'header', hash: tip.subarray(0, 32), height: tip.readUInt32LE(32) } as const
    await overlay.commit(info, { sync: true })
    overlay = new Overlay(database)
  }
  for (const { tables, shorter, meta } of layout === 2 ? [changes[3], changes[2]] : [changes[3]]) {
    for (const number of [...tables, ...Object.keys(shorter).map(Number)]) {
      const bytes = (shorter as Readonly<Record<number, number>>)[number]
      for await (const [key, value] of database.scan(rangeOf(number))) {
        if (bytes === undefined) overlay.del(key)
        else overlay.put(key, value.subarray(0, bytes))
        if (++changed % atOnce === 0) await commit()
      }
    }
    for (const name of meta) overlay.del(keys.meta(name))
  }
  overlay.put(keys.meta('version'), Uint8Array.of(layout))
  await commit()
}
