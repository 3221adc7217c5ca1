import { describe, expect, it } from 'vitest'
import { Database } from '../../../src/ledger/storage/database.js'
import { StorageError } from '../../../src/ledger/storage/failure.js'
import { Overlay } from '../../../src/ledger/storage/write/overlay.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { memoryStore } from '../../support/builders/chain.js'

const key = tables.active.key(7)
const other = tables.active.key(8)
const encodings = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const

/** A database with two rows, whose store `edit` changes behind its back. */
async function edited(edit: (store: ReturnType<typeof memoryStore>) => Promise<void>): Promise<Database> {
  const store = memoryStore()
  const database = await Database.over(store)
  const overlay = new Overlay(database)
  overlay.put(key, Buffer.from('seven'))
  overlay.put(other, Buffer.from(''))
  await overlay.commit({ kind: 'header', height: 0, hash: Buffer.alloc(32) }, { sync: true })
  await edit(store)
  return database
}

async function expectDamage(database: Database, row: Buffer): Promise<void> {
  const message = `row ${row.toString('hex')} is not as it was written`
  const range = tables.active.range()
  expect(() => database.get(row)).toThrow(message)
  await expect(database.getMany([row])).rejects.toThrow(message)
  await expect(database.rows(range)).rejects.toThrow(message)
  await expect(database.scan(range).next()).rejects.toBeInstanceOf(StorageError)
}

describe('a row that LevelDB hands out', () => {
  it('is as it was written, and empty values are too', async () => {
    const database = await edited(async () => {})
    expect(database.get(key)).toEqual(Buffer.from('seven'))
    expect(await database.getMany([other, key])).toEqual([Buffer.from(''), Buffer.from('seven')])
  })

  it('is refused when any bit of its value has changed', async () => {
    const size = 'seven'.length + 4
    for (let bit = 0; bit < size * 8; bit++) {
      const database = await edited(async (store) => {
        const value = Buffer.from((await store.get(key, encodings)) as Buffer)
        value[bit >> 3] = (value[bit >> 3] as number) ^ (1 << (bit & 7))
        await store.put(key, value, encodings)
      })
      await expectDamage(database, key)
    }
  })

  it('is refused when it is cut, or stands under another key', async () => {
    const cut = await edited((store) => store.put(key, Buffer.from('sev'), encodings))
    await expectDamage(cut, key)
    const moved = await edited(async (store) => {
      const value = (await store.get(other, encodings)) as Buffer
      await store.put(key, value, encodings)
    })
    await expectDamage(moved, key)
  })
})
