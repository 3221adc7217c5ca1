import { describe, expect, it } from 'vitest'
import { finish } from '../../../src/base/primitives/steps.js'
import { BatchRows } from '../../../src/ledger/storage/batch-rows.js'
import { checkJournal } from '../../../src/ledger/storage/check-journal.js'
import { Database } from '../../../src/ledger/storage/database.js'
import { migrateIndex, type MigrationProgress, type MigrationSizes } from '../../../src/ledger/storage/migrate-index.js'
import { Overlay } from '../../../src/ledger/storage/overlay.js'
import { keys, rangeOf, schemaVersion, table } from '../../../src/ledger/storage/schema.js'
import { values } from '../../../src/ledger/storage/row-values.js'
import type { HexRows } from '../../support/assert/index-rows.js'
import { memoryStore } from '../../support/builders/chain.js'
import { expires } from '../../support/builders/did.js'
import { searchableCast } from '../../support/builders/did-cast.js'
import { type Deed, DidRows } from '../../support/builders/did-rows.js'
import { toOlderLayout } from '../../support/builders/older-layout.js'
import { SeededRandom } from '../../support/builders/seeded-random.js'
import { rounds } from '../../support/process/thorough.js'

const info = { kind: 'header', hash: new Uint8Array(32), height: 0 } as const
const small: MigrationSizes = { batchBytes: 12_000, batchDids: 9, sortedAtOnce: 16 }

/** All rows but those of the journal, and those that take the index back: a change of the layout makes none. */
async function rowsOf(database: Database): Promise<HexRows> {
  const rows = await database.rows({})
  return Object.fromEntries(
    rows
      .filter(([key]) => key[0] !== table.journal && key[0] !== table.indexUndo && !key.equals(keys.meta('indexUndo')))
      .map(([key, value]) => [key.toString('hex'), value.toString('hex')]),
  )
}

/** A store with random DIDs in layout 2, and its rows in layout 3. */
async function random(seed: number, holders = 40) {
  const store = memoryStore()
  const random = new SeededRandom(seed)
  const rows = new DidRows(await Database.over(store), searchableCast(random, { holders, documents: 2 }))
  for (let block = 0; block < 5; block++) {
    const deeds = Array.from({ length: holders / 2 }, (): Deed => {
      return { who: random.below(holders), which: random.below(2), end: random.below(6) === 0 }
    })
    await rows.connect(deeds)
  }
  rows.overlay.put(keys.meta('version'), Uint8Array.of(schemaVersion))
  rows.overlay.put(keys.meta('tip'), values.tip.encode(info))
  await rows.commit()
  await toOlderLayout(rows.database, 3)
  const expected = await rowsOf(rows.database)
  await toOlderLayout(rows.database, 2)
  return { store, database: rows.database, expected }
}

/** Ends every batch after some with an error, as a full disk does. */
function failAfter(database: Database, batches: number): void {
  const commit = database.commit.bind(database)
  let left = batches
  database.commit = (...batch) => (left-- > 0 ? commit(...batch) : Promise.reject(new Error('no more')))
}

describe('a database of layout 2', () => {
  it.each(Array.from({ length: rounds(4, 60) }, (_, i) => i + 1))(
    'gets the rows that its blocks would have left, in batches: seed %i',
    async (seed) => {
      const { database, expected } = await random(seed)
      expect((await checkJournal(database)).isOlderLayout).toBe(true)
      const seen: MigrationProgress[] = []
      await migrateIndex(database, (progress) => seen.push(progress), small)
      expect(await rowsOf(database)).toEqual(expected)
      const done = seen.map((progress) => progress.done)
      expect(done).toEqual([...done].sort((a, b) => a - b))
      expect(done.length).toBeGreaterThan(4)
      expect(new Set(seen.map(({ total }) => total))).toEqual(new Set([done.at(-1)]))
    },
  )

  it('goes on after the last batch that was written, however often it is interrupted', async () => {
    const { store, database, expected } = await random(1, 80)
    failAfter(database, 2)
    await expect(migrateIndex(database, () => {}, small)).rejects.toThrow('no more')
    let interruptions = 0
    for (let started = 0; ; interruptions++) {
      const again = await Database.over(store)
      expect((await checkJournal(again)).isOlderLayout).toBe(true)
      const seen: number[] = []
      failAfter(again, 1)
      const end = await migrateIndex(again, ({ done }) => seen.push(done), small).catch((error: Error) => error)
      // What was done is not done again.
      expect(seen[0]).toBeGreaterThan(started)
      started = seen[0] as number
      if (end === undefined) break
    }
    expect(interruptions).toBeGreaterThan(2)
    expect(await rowsOf(await Database.over(store))).toEqual(expected)
  })

  it('begins again where an older version has used it in between', async () => {
    const { store, database } = await random(2)
    // The last document becomes another one, as an update does; once after a part of the work, once before all of it.
    const [row] = await database.rows(rangeOf(table.didDocument), { reverse: true, limit: 1 })
    const [first] = await database.rows(rangeOf(table.didDocument), { limit: 1 })
    const update = async (changed: Database) => {
      const overlay = new Overlay(changed)
      for (const one of [row, first]) {
        const [key, text] = one as [Buffer, Buffer]
        overlay.put(key, Buffer.from(text.toString().replace('{', '{"service":[{"type":"Other"}],')))
      }
      await overlay.commit(info, { sync: false })
    }
    const other = await random(2)
    const changed = new Overlay(other.database)
    for (const [key, value] of await other.database.rows({})) {
      if (key[0] !== table.journal) changed.del(key)
      void value
    }
    for (const [key, value] of await database.rows({})) if (key[0] !== table.journal) changed.put(key, value)
    await changed.commit(info, { sync: false })
    await update(other.database)
    await migrateIndex(other.database, () => {}, small)

    failAfter(database, 3)
    await expect(migrateIndex(database, () => {}, small)).rejects.toThrow('no more')
    await update(await Database.over(store))
    const again = await Database.over(store)
    const seen: number[] = []
    await migrateIndex(again, ({ done }) => seen.push(done), small)
    expect(seen[0]).toBe(0)
    expect(await rowsOf(again)).toEqual(await rowsOf(other.database))
  })

  it('without a DID changes its version alone', async () => {
    const { database, expected } = await random(3, 0)
    await migrateIndex(database, () => {})
    expect(await rowsOf(database)).toEqual(expected)
    expect(database.get(keys.meta('version'))).toEqual(Buffer.of(3))
  })

  it('is left as it is where its rows contradict each other', async () => {
    const { database } = await random(4)
    const [document] = await database.rows(rangeOf(table.didDocument), { limit: 1 })
    const overlay = new Overlay(database)
    overlay.del((document as [Buffer, Buffer])[0])
    await overlay.commit(info, { sync: false })
    await expect(migrateIndex(database, () => {})).rejects.toThrow(
      /the document of DID \d+ is not as its head says.*reindex/,
    )
    expect(database.get(keys.meta('version'))).toEqual(Buffer.of(2))
  })

  it('is changed in batches of at most 32 MiB, whatever its documents hold', async () => {
    const { database } = await random(5)
    // The text with the most rows for its bytes: short names of members with short values, and types.
    const [row] = await database.rows(rangeOf(table.didDocument), { limit: 1 })
    const [create] = row as [Buffer, Buffer]
    const type = Array.from({ length: 1024 }, (_, i) => i.toString(36))
    const claims = Object.fromEntries(type.map((name, i) => [name, i % 256]))
    const overlay = new Overlay(database)
    const id = 'did:ledger:x'
    const text = JSON.stringify({
      id,
      expires,
      verifiableCredential: [{ type, issuer: id, credentialSubject: { id, ...claims } }],
    })
    overlay.put(create, Buffer.from(text))
    await overlay.commit(info, { sync: false })
    const sizes: number[] = []
    const commit = database.commit.bind(database)
    database.commit = async (made, ...rest) => {
      const changes = await made
      const rows = new BatchRows({ put: () => {}, del: () => {}, write: () => Promise.resolve() })
      finish(changes.steps(rows))
      sizes.push(rows.bytes)
      return commit(changes, ...rest)
    }
    await migrateIndex(database, () => {})
    expect(Math.max(...sizes)).toBeGreaterThan(50_000)
    expect(Math.max(...sizes)).toBeLessThan(16 * text.length)
  })
})
