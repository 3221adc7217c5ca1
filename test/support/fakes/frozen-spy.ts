import { vi } from 'vitest'
import type { FrozenRows } from '../../../src/ledger/storage/stored-rows.js'
import type { TestChain } from '../builders/chain.js'

/** Counts what answers read from frozen rows of a chain. */
export interface FrozenReads {
  /** Keys read one by one or in one call, by table. */
  readonly keys: Map<number, number>
  /** Rows of ranges, by table. */
  readonly rows: Map<number, number>
  /** States frozen and not given back. */
  open: number
  opened: number
  /** Awaited before each range is read. */
  hold: () => Promise<void>
}

/** Watches a chain from now on. */
export function spyFrozen({ database }: TestChain): FrozenReads {
  const reads: FrozenReads = { keys: new Map(), rows: new Map(), open: 0, opened: 0, hold: async () => {} }
  const add = (counts: Map<number, number>, key: Uint8Array) => {
    const table = key[0] as number
    counts.set(table, (counts.get(table) ?? 0) + 1)
  }
  const freeze = database.freeze.bind(database)
  vi.spyOn(database, 'freeze').mockImplementation((): FrozenRows => {
    const frozen = freeze()
    reads.open++
    reads.opened++
    return {
      get: (key) => {
        add(reads.keys, key)
        return frozen.get(key)
      },
      getMany: (keys) => {
        for (const key of keys) add(reads.keys, key)
        return frozen.getMany(keys)
      },
      load: (keys) => frozen.load(keys),
      rows: async (...range) => {
        await reads.hold()
        const found = await frozen.rows(...range)
        for (const [key] of found) add(reads.rows, key)
        return found
      },
      pages: async function* (...range) {
        await reads.hold()
        for await (const page of frozen.pages(...range)) {
          for (const [key] of page) add(reads.rows, key)
          yield page
        }
      },
      seek: async (key) => {
        await reads.hold()
        const found = await frozen.seek(key)
        if (found !== undefined) add(reads.rows, found[0])
        return found
      },
      close: () => {
        reads.open--
        frozen.close()
      },
    }
  })
  return reads
}
