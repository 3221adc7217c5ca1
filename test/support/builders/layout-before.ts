import type { Database } from '../../../src/storage/database.js'
import { Overlay } from '../../../src/storage/overlay.js'
import { keys, layoutBefore, rangeOf, table } from '../../../src/storage/schema.js'

/** Rows changed in one batch. */
const atOnce = 10_000

/** Makes the rows of a database what the layout before has: heads without ordinals, no index, the version. */
export async function toLayoutBefore(database: Database): Promise<void> {
  const tip = database.get(keys.meta('tip')) as Buffer
  let overlay = new Overlay(database)
  let changed = 0
  const commit = async () => {
    const info = { kind: 'header', hash: tip.subarray(0, 32), height: tip.readUInt32LE(32) } as const
    await overlay.commit(info, { sync: true })
    overlay = new Overlay(database)
  }
  for (const number of [table.didHead, table.ordinal, table.posting, table.tokenCount, table.indexUndo]) {
    for await (const [key, value] of database.scan(rangeOf(number))) {
      if (number === table.didHead) overlay.put(key, value.subarray(0, 9))
      else overlay.del(key)
      if (++changed % atOnce === 0) await commit()
    }
  }
  overlay.put(keys.meta('version'), Uint8Array.of(layoutBefore))
  await commit()
}
