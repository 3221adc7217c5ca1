import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkJournal } from '../../../../../src/ledger/storage/care/check-journal.js'
import { Database } from '../../../../../src/ledger/storage/database.js'
import { StorageError } from '../../../../../src/ledger/storage/failure.js'
import { Overlay } from '../../../../../src/ledger/storage/write/overlay.js'
import { journalDigest, journalRowSize } from '../../../../../src/ledger/storage/write/journal.js'
import type { JournalKind } from '../../../../../src/ledger/storage/rows/journal-row.js'
import { meta, tables } from '../../../../../src/ledger/storage/rows/tables.js'
import { hash, runs, u32 } from '../../../../support/builders/arbitraries.js'
import { memoryStore, type Store, TestChain } from '../../../../support/builders/chain.js'

type Contents = ReadonlyMap<string, Buffer>
type Batch = { readonly puts: readonly (readonly [string, Buffer])[]; readonly dels: readonly string[] }

async function contents(store: Store): Promise<Contents> {
  const rows = await store.iterator({ keyEncoding: 'buffer', valueEncoding: 'buffer' }).all()
  return new Map(rows.map(([key, value]) => [(key as Buffer).toString('hex'), value]))
}

/** What was written between two moments. */
function batchOf(before: Contents, after: Contents): Batch {
  const puts = [...after].filter(([key, value]) => before.get(key)?.equals(value) !== true)
  return { puts, dels: [...before.keys()].filter((key) => !after.has(key)) }
}

/** A store to which these batches were written. */
async function storeOf(batches: readonly Batch[]): Promise<Store> {
  const store = memoryStore()
  await store.open()
  for (const { puts, dels } of batches) {
    const batch = store.batch()
    for (const key of dels) batch.del(Buffer.from(key, 'hex'))
    for (const [key, value] of puts) batch.put(Buffer.from(key, 'hex'), value)
    await batch.write()
  }
  return store
}

/** The batches of a chain with blocks and pooled transactions. */
async function history(): Promise<Batch[]> {
  const store = memoryStore()
  await store.open()
  const batches: Batch[] = []
  let before: Contents = new Map()
  const noted = async () => {
    const after = await contents(store)
    const batch = batchOf(before, after)
    if (batch.puts.length > 0) batches.push(batch)
    before = after
  }
  const test = await TestChain.open(undefined, { store })
  await noted()
  for (let i = 0; i < 6; i++) {
    await test.send(await test.transfer('EKncjrsmMkiZLV34kRYfhZg1mehNfRB6uG', 1_000_000n))
    await noted()
    await test.mine()
    await noted()
  }
  return batches
}

const check = async (batches: readonly Batch[]) => checkJournal(await Database.over(await storeOf(batches)))
const command = /didledger chain reindex/

describe('a row of the journal', () => {
  it('comes back as it was and has the size it is counted with', () => {
    const kind = fc.constantFrom<JournalKind>(
      'checkpoint',
      'genesis',
      'block',
      'reorganisation',
      'header',
      'pool',
      'rewind',
      'layout',
    )
    const row = fc.record({ kind, height: u32, hash, bytes: u32, previous: hash, operations: hash })
    fc.assert(
      fc.property(row, (value) => {
        const encoded = tables.journal.encode(value)
        expect(encoded.length + tables.journal.key(1).length).toBe(journalRowSize)
        const { kind: decodedKind, height, bytes } = tables.journal.decode(encoded)
        expect([decodedKind, height, bytes]).toEqual([value.kind, value.height, value.bytes])
        expect(Buffer.from(tables.journal.encode(tables.journal.decode(encoded)))).toEqual(Buffer.from(encoded))
      }),
      runs,
    )
  })

  it('has another digest at another place', () => {
    const row = new Uint8Array(105)
    expect(journalDigest(1, row)).not.toEqual(journalDigest(2, row))
  })
})

describe('the journal', () => {
  it('shows every batch that is missing in the middle, and none at the end', async () => {
    const batches = await history()
    expect(batches.length).toBe(13)
    expect(await check(batches)).toMatchObject({ fromHeight: 0 })
    expect(await check([])).toMatchObject({ fromHeight: undefined })
    for (let missing = 0; missing < batches.length - 1; missing++) {
      const damaged = check(batches.filter((_, i) => i !== missing))
      await expect(damaged, `without batch ${missing + 1}`).rejects.toThrow(StorageError)
      await expect(damaged).rejects.toThrow(command)
    }
    for (let kept = 1; kept <= batches.length; kept++) {
      await expect(check(batches.slice(0, kept)), `the first ${kept}`).resolves.toBeDefined()
    }
  })

  it('shows several missing batches', async () => {
    const batches = await history()
    for (const [from, to] of [
      [2, 5],
      [1, 11],
      [0, 3],
    ] as const) {
      const left = batches.filter((_, i) => i < from || i >= to)
      await expect(check(left)).rejects.toThrow(command)
    }
  })

  it('shows every row of its own that is missing or altered', async () => {
    const batches = await history()
    const rows = batches.length
    for (let sequence = 1; sequence <= rows; sequence++) {
      const store = await storeOf(batches)
      await store.del(tables.journal.key(sequence))
      await expect(Database.over(store).then(checkJournal), `row ${sequence}`).rejects.toThrow(command)
    }
    for (let sequence = 1; sequence < rows; sequence++) {
      const store = await storeOf(batches)
      const database = await Database.over(store)
      const row = tables.journal.decode(database.get(tables.journal.key(sequence)) as Buffer)
      const overlay = new Overlay(database)
      overlay.put(tables.journal.key(sequence), tables.journal.encode({ ...row, bytes: row.bytes + 1 }))
      await overlay.commit({ kind: 'pool', height: row.height, hash: row.hash }, { sync: false })
      await expect(checkJournal(await Database.over(store)), `row ${sequence}`).rejects.toThrow(command)
    }
  })

  it('is not looked at behind a clean point', async () => {
    const store = memoryStore()
    const test = await TestChain.open(undefined, { store })
    await test.mine(3)
    await test.close()
    await store.open()
    await store.del(tables.journal.key(2))
    const database = await Database.over(store)
    expect(await checkJournal(database)).toMatchObject({ fromHeight: 3 })
  })

  it('tells when it is gone, or the first batch is, or the layout is another', async () => {
    const batches = await history()
    const withoutJournal = batches.map(({ puts, dels }) => ({
      dels,
      puts: puts.filter(([key]) => !key.startsWith('01')),
    }))
    await expect(check(withoutJournal)).rejects.toThrow(command)
    const store = await storeOf(batches)
    await store.del(meta.version.key)
    await expect(Database.over(store).then(checkJournal)).rejects.toThrow(command)
    const database = await Database.over(await storeOf(batches))
    const overlay = new Overlay(database)
    overlay.put(meta.version.key, Uint8Array.of(99))
    await overlay.commit({ kind: 'pool', height: 6, hash: new Uint8Array(32) }, { sync: false })
    await expect(checkJournal(database)).rejects.toThrow(/layout 99/)
  })
})
