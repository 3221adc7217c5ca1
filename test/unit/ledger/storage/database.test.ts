import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Database } from '../../../../src/ledger/storage/database.js'
import { StorageError } from '../../../../src/ledger/storage/failure.js'
import { changesOf } from '../../../../src/ledger/storage/write/row-changes.js'
import { Overlay } from '../../../../src/ledger/storage/write/overlay.js'
import { digestOf } from '../../../../src/ledger/storage/care/table-digest.js'
import { tables } from '../../../../src/ledger/storage/rows/tables.js'
import { outpointKey } from '../../../../src/base/primitives/input.js'
import { memoryStore } from '../../../support/builders/chain.js'

const id = (number: number) => new Uint8Array(32).fill(number)
const info = { kind: 'pool', height: 0, hash: id(0) } as const
const text = (value: Uint8Array | undefined) => (value === undefined ? undefined : Buffer.from(value).toString())

let directory = ''
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'didledger-test-'))
})
afterAll(async () => {
  await rm(directory, { recursive: true })
})

describe('an overlay', () => {
  it('shows the database with its changes, which come in one batch', async () => {
    const database = await Database.over(memoryStore())
    const first = new Overlay(database)
    first.put(tables.pool.key(id(1)), Buffer.from('one'))
    first.put(tables.pool.key(id(2)), Buffer.from('two'))
    expect(database.get(tables.pool.key(id(1)))).toBe(undefined)
    await first.commit(info, { sync: false })
    const second = new Overlay(database)
    await second.load([tables.pool.key(id(1)), tables.pool.key(id(9))])
    second.del(tables.pool.key(id(1)))
    second.put(tables.pool.key(id(3)), Buffer.from('three'))
    expect([1, 2, 3, 9].map((number) => text(second.get(tables.pool.key(id(number)))))).toEqual([
      undefined,
      'two',
      'three',
      undefined,
    ])
    expect(text(database.get(tables.pool.key(id(1))))).toBe('one')
    await second.commit(info, { sync: true })
    expect(text(database.get(tables.pool.key(id(1))))).toBe(undefined)
    expect((await database.getMany([tables.pool.key(id(2)), tables.pool.key(id(1))])).map(text)).toEqual([
      'two',
      undefined,
    ])
    expect(database.sequence).toBe(2)
  })
})

describe('pages of a range', () => {
  const pageBytes = 64 * 1024
  const put = async (database: Database, from: number, to: number, letter: string) => {
    const overlay = new Overlay(database)
    for (let height = from; height < to; height++) overlay.put(tables.active.key(height), Buffer.alloc(1000, letter))
    await overlay.commit(info, { sync: false })
  }

  it('are of one state, in order, each about so many bytes', async () => {
    const database = await Database.open(join(directory, 'pages'))
    try {
      await put(database, 0, 500, 'a')
      const seen: number[] = []
      for await (const rows of database.pages(tables.active.range(), pageBytes)) {
        if (seen.length === 0) await put(database, 400, 600, 'b')
        expect(rows.length).toBeLessThan((2 * pageBytes) / 1000)
        for (const [key, value] of rows) {
          seen.push(key.readUInt32BE(1))
          expect(value.equals(Buffer.alloc(1000, 'a'))).toBe(true)
        }
      }
      expect(seen).toEqual(Array.from({ length: 500 }, (_, i) => i))
    } finally {
      await database.close()
    }
  })

  it('come from the end where they are asked for backwards, of one state as well', async () => {
    const database = await Database.open(join(directory, 'backwards'))
    try {
      await put(database, 0, 500, 'a')
      const frozen = database.freeze()
      await put(database, 100, 600, 'b')
      const seen: number[] = []
      for await (const rows of frozen.pages(tables.active.range(), pageBytes, { reverse: true })) {
        expect(rows.length).toBeLessThan((2 * pageBytes) / 1000)
        for (const [key, value] of rows) {
          seen.push(key.readUInt32BE(1))
          expect(value.equals(Buffer.alloc(1000, 'a'))).toBe(true)
        }
      }
      frozen.close()
      expect(seen).toEqual(Array.from({ length: 500 }, (_, i) => 499 - i))
    } finally {
      await database.close()
    }
  })

  it('leave nothing open where the caller stops, and name a damaged row', async () => {
    const store = memoryStore()
    const database = await Database.over(store)
    await put(database, 0, 3000, 'a')
    for await (const rows of database.pages(tables.active.range(), pageBytes)) {
      expect(rows.length).toBeGreaterThan(0)
      break
    }
    await store.put(tables.active.key(7), Buffer.from('something else'))
    const pages = database.pages(tables.active.range(), pageBytes)
    await expect(pages.next()).rejects.toThrow(/row 0300000007 is not as it was written/)
    expect(await pages.next()).toEqual({ done: true, value: undefined })
    await database.close()
  })
})

describe('the first row from a key on', () => {
  const heights = (rows: readonly ([Buffer, Buffer] | undefined)[]) => rows.map((row) => row?.[0].readUInt32BE(1))

  it.each([
    ['LevelDB', () => Database.open(join(directory, 'seek'))],
    ['a store in memory', () => Database.over(memoryStore())],
  ])('is of one state and of the same table, however many are asked for at once: %s', async (_, open) => {
    const database = await open()
    try {
      const put = async (...written: number[]) => {
        const overlay = new Overlay(database)
        for (const height of written) overlay.put(tables.active.key(height), Buffer.from(String(height)))
        await overlay.commit(info, { sync: false })
      }
      await put(3, 7)
      const frozen = database.freeze()
      await put(5)
      const seek = (height: number) => frozen.seek(tables.active.key(height))
      expect(heights(await Promise.all([8, 7, 4, 3, 0, 9, 4].map(seek)))).toEqual([undefined, 7, 7, 3, 3, undefined, 7])
      expect(text((await seek(4))?.[1])).toBe('7')
      frozen.close()
      const later = database.freeze()
      expect(heights([await later.seek(tables.active.key(4))])).toEqual([5])
      const last = later.seek(tables.active.key(6))
      later.close()
      expect(heights([await last])).toEqual([7])
      // The store closes although a state was asked of after its end.
      await expect(later.seek(tables.active.key(1))).rejects.toThrow(StorageError)
    } finally {
      await database.close()
    }
  })

  it('is refused where it was damaged', async () => {
    const store = memoryStore()
    const database = await Database.over(store)
    const key = tables.active.key(1)
    await store.put(key, Buffer.from('not sealed'), { keyEncoding: 'buffer', valueEncoding: 'buffer' })
    const frozen = database.freeze()
    await expect(frozen.seek(key)).rejects.toThrow(StorageError)
    await expect(frozen.seek(tables.active.key(2))).resolves.toBeUndefined()
    frozen.close()
  })
})

describe('the database', () => {
  it('reads ranges in order, whole, in part, backwards, as keys, and more than one page', async () => {
    const database = await Database.over(memoryStore())
    const overlay = new Overlay(database)
    const count = 2500
    for (let height = 0; height < count; height++) overlay.put(tables.active.key(height), Buffer.from(`${height}`))
    await overlay.commit(info, { sync: false })
    const range = tables.active.range()
    expect(await database.rows(range)).toHaveLength(count)
    const tail = await database.rows(range, { limit: 2, reverse: true })
    expect(tail.map(([, value]) => text(value))).toEqual(['2499', '2498'])
    expect((await database.keys(range)).map((key) => key.readUInt32BE(1))).toEqual(
      Array.from({ length: count }, (_, i) => i),
    )
    const scanned: number[] = []
    for await (const [, value] of database.scan(range)) scanned.push(Number(text(value)))
    expect(scanned).toHaveLength(count)
    expect(scanned[1999]).toBe(1999)
  })

  it('writes batches in the order they were handed over', async () => {
    const database = await Database.over(memoryStore())
    const writes = Array.from({ length: 20 }, (_, i) => {
      const overlay = new Overlay(database)
      overlay.put(tables.pool.key(id(1)), Buffer.from(`${i}`))
      return overlay.commit(info, { sync: false })
    })
    await database.idle()
    expect(text(database.get(tables.pool.key(id(1))))).toBe('19')
    await Promise.all(writes)
    expect(database.sequence).toBe(20)
  })

  it('counts a batch from its call on, also where the rows of its coins are made later', async () => {
    const database = await Database.over(memoryStore())
    const first = new Overlay(database)
    const owner = '!'.repeat(21)
    const outpoint = { txid: id(1), index: 0 }
    first.coins.create(outpointKey(outpoint), { height: 1, coinbase: false, value: 5n, outputLock: 0, owner })
    first.put(tables.active.key(1), Buffer.from('first'))
    const second = new Overlay(database)
    second.put(tables.active.key(1), Buffer.from('second'))
    const writes = [first.commit(info, { sync: false }), second.commit(info, { sync: false })]
    await database.idle()
    expect(database.get(tables.coin.key(outpoint))).toBeDefined()
    expect(text(database.get(tables.active.key(1)))).toBe('second')
    await Promise.all(writes)
  })

  it('writes rows of the pool while a large batch is put together, and everything else after it', async () => {
    const database = await Database.over(memoryStore())
    const order: string[] = []
    const commit = (name: string, kind: 'pool' | 'block', rows: number) => {
      const overlay = new Overlay(database)
      for (let i = 0; i < rows; i++) overlay.put(tables.active.key(i), Buffer.from(name))
      return overlay.commit({ ...info, kind }, { sync: false }).then(() => order.push(name))
    }
    const writes = [
      commit('large block', 'block', 30_000),
      commit('block', 'block', 1),
      commit('larger pool', 'pool', 50),
      commit('pool', 'pool', 1),
    ]
    await database.free()
    expect(order).toEqual([])
    await database.idle()
    expect(order).toEqual(['larger pool', 'pool', 'large block', 'block'])
    expect([0, 1].map((height) => text(database.get(tables.active.key(height))))).toEqual(['block', 'large block'])
    await Promise.all(writes)
    const journal = await database.rows(tables.journal.range())
    const rows = journal.map(([, value]) => tables.journal.decode(value))
    expect(rows.map(({ kind }) => kind)).toEqual(['pool', 'pool', 'block', 'block'])
  })

  it('writes nothing after a write that failed', async () => {
    const store = memoryStore()
    const database = await Database.over(store)
    await store.close()
    const write = () => database.commit(changesOf(new Map()), info, { sync: false })
    await expect(write()).rejects.toThrow()
    await store.open()
    await expect(write()).rejects.toThrow()
    await expect(database.idle()).rejects.toThrow()
    expect(database.sequence).toBe(0)
  })

  it('goes on counting batches after it was closed', async () => {
    const path = join(directory, 'counting')
    const first = await Database.open(path)
    await first.commit(changesOf(new Map()), info, { sync: true })
    await first.checkpoint({ height: 0, hash: id(0) })
    await first.close()
    const second = await Database.open(path)
    expect(second.sequence).toBe(2)
    await second.close()
  })

  it('says who holds a directory that is in use', async () => {
    const path = join(directory, 'locked')
    const first = await Database.open(path)
    const second = Database.open(path)
    await expect(second).rejects.toThrow(StorageError)
    await expect(second).rejects.toThrow(/another process is using/)
    await first.close()
  })

  it('has equal digests for equal rows alone', async () => {
    const digest = async (rows: readonly (readonly [number, string])[]) => {
      const database = await Database.over(memoryStore())
      const overlay = new Overlay(database)
      for (const [number, value] of rows) overlay.put(tables.pool.key(id(number)), Buffer.from(value))
      await overlay.commit(info, { sync: false })
      return Buffer.from(await digestOf(database, [tables.pool.number])).toString('hex')
    }
    const plain = await digest([
      [1, 'a'],
      [2, 'b'],
    ])
    expect(
      await digest([
        [2, 'b'],
        [1, 'a'],
      ]),
    ).toBe(plain)
    expect(await digest([[1, 'a']])).not.toBe(plain)
    expect(
      await digest([
        [1, 'ab'],
        [2, ''],
      ]),
    ).not.toBe(plain)
  })
})
