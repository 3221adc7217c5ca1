import { describe, expect, it } from 'vitest'
import { checkJournal } from '../../../src/ledger/storage/check-journal.js'
import { Database } from '../../../src/ledger/storage/database.js'
import { migrateHistories } from '../../../src/ledger/storage/migrate-histories.js'
import { layoutOf, migrateLayout, type MigrationProgress } from '../../../src/ledger/storage/migrate-layout.js'
import { Overlay } from '../../../src/ledger/storage/overlay.js'
import { keys, rangeOf, schemaVersion, table } from '../../../src/ledger/storage/schema.js'
import { memoryStore, type Store, TestChain, withoutValidators } from '../../support/builders/chain.js'
import { toOlderLayout } from '../../support/builders/older-layout.js'
import { Crowd, random } from '../../support/builders/random-chain.js'

/** All rows but those of the journal. */
async function rowsOf(database: Database): Promise<Record<string, string>> {
  const rows = await database.rows({})
  return Object.fromEntries(
    rows
      .filter(([key]) => key[0] !== table.journal)
      .map(([key, value]) => [key.toString('hex'), value.toString('hex')]),
  )
}

/** A store of a chain without a map, in an older layout, and its rows in this one. */
async function older(layout: 2 | 3): Promise<{ store: Store; expected: Record<string, string> }> {
  const store = memoryStore()
  const test = await TestChain.open({ ...withoutValidators, didRoot: undefined }, { store })
  const crowd = new Crowd(random(4))
  for (let i = 0; i < 20; i++) {
    for (let n = 0; n < 4; n++) await crowd.act(test)
    await test.mine()
    crowd.look(test)
  }
  await test.close()
  const database = await Database.over(store)
  const expected = await rowsOf(database)
  await toOlderLayout(database, layout)
  await database.close()
  return { store, expected }
}

describe('a database of layout 3', () => {
  it('gets the rows that its blocks would have left, however often it is interrupted', async () => {
    const { store, expected } = await older(3)
    let interruptions = 0
    for (; ; interruptions++) {
      const database = await Database.over(store)
      expect(layoutOf(database)).toBe(3)
      expect((await checkJournal(database)).isOlderLayout).toBe(true)
      const commit = database.commit.bind(database)
      let left = 1
      database.commit = (...batch) => (left-- > 0 ? commit(...batch) : Promise.reject(new Error('no more')))
      const seen: MigrationProgress[] = []
      const end = await migrateHistories(database, (progress) => seen.push(progress), { rowsAtOnce: 5 }).catch(
        (error: Error) => error,
      )
      await database.close()
      if (end === undefined) {
        expect(seen.at(-1)).toMatchObject({ done: seen[0]?.total })
        break
      }
      expect(end.message).toBe('no more')
    }
    expect(interruptions).toBeGreaterThan(2)
    const database = await Database.over(store)
    expect(layoutOf(database)).toBe(schemaVersion)
    expect(await rowsOf(database)).toEqual(expected)
  })

  it('is left as it is where an operation is missing', async () => {
    const { store } = await older(3)
    const database = await Database.over(store)
    const operations = await database.rows(rangeOf(table.didOperation))
    const [second] = operations.find(([key]) => key.readUInt32BE(22) === 1) as [Buffer, Buffer]
    const first = Buffer.from(second)
    first.writeUInt32BE(0, 22)
    const overlay = new Overlay(database)
    overlay.del(first)
    const tip = database.get(keys.meta('tip')) as Buffer
    await overlay.commit({ kind: 'header', hash: tip.subarray(0, 32), height: 20 }, { sync: false })
    await expect(migrateLayout(database, () => {})).rejects.toThrow(/the operation of a DID before another is missing/)
    expect(layoutOf(database)).toBe(3)
  })
})

it('a database of layout 2 gets both changes', async () => {
  const { store, expected } = await older(2)
  const database = await Database.over(store)
  await migrateLayout(database, () => {})
  const made = await rowsOf(database)
  // Blocks of before have no rows that take the index back.
  const differs = (key: string) => key.startsWith('19') || key === keys.meta('indexUndo').toString('hex')
  const without = (rows: Record<string, string>) =>
    Object.fromEntries(Object.entries(rows).filter(([key]) => !differs(key)))
  expect(without(made)).toEqual(without(expected))
})
