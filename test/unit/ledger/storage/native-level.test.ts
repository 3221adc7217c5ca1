import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { NativeLevel, rowBatchOf, type Store } from '../../../../src/ledger/storage/native-level.js'
import { memoryStore } from '../../../support/builders/chain.js'

/** NativeLevel calls methods of abstract-level that only implementers use: this shows when a version changes them. */
describe('A batch of rows', () => {
  let directory: string
  let level: NativeLevel

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'didledger-test-'))
    level = new NativeLevel(join(directory, 'rows'), { keyEncoding: 'buffer', valueEncoding: 'buffer' })
    await level.open()
  })

  afterEach(async () => {
    await level.close()
    await rm(directory, { recursive: true, force: true })
  })

  const rowsOf = (store: Store) => store.iterator({ keyEncoding: 'buffer', valueEncoding: 'buffer' }).all()

  it('is written at once, the same by LevelDB and by any other store', async () => {
    const memory = memoryStore()
    await memory.open()
    for (const store of [level, memory]) {
      const first = rowBatchOf(store)
      // The bytes may change as soon as a call returns.
      const bytes = Buffer.from('ab')
      first.put(bytes, bytes)
      bytes.write('cd')
      first.put(bytes, bytes)
      first.put(Buffer.from('e'), new Uint8Array(0))
      expect(await rowsOf(store)).toEqual([])
      await first.write({ sync: true })
      const second = rowBatchOf(store)
      bytes.write('ab')
      second.del(bytes)
      bytes.write('ef')
      second.put(bytes.subarray(1), bytes)
      await second.write({ sync: false })
    }
    const expected = [
      ['cd', 'cd'],
      ['e', ''],
      ['f', 'ef'],
    ].map((row) => row.map((text) => Buffer.from(text)))
    expect(await rowsOf(level)).toEqual(expected)
    expect(await rowsOf(memory)).toEqual(expected)
  })

  it('takes the memory of one that was written, unless that is large', async () => {
    let made = 0
    const real = Reflect.get(level, '_chainedBatch') as () => object
    Reflect.set(level, '_chainedBatch', () => {
      made++
      return real.call(level)
    })
    const key = (number: number) => Buffer.of(number)
    const write = async (rows: number, size: number) => {
      const batch = rowBatchOf(level)
      for (let i = 0; i < rows; i++) batch.put(key(i), Buffer.alloc(size))
      await batch.write({ sync: false })
    }
    for (let i = 0; i < 5; i++) await write(4, 1024 * 1024 - 1)
    expect(made).toBe(1)
    // Two at a time, and three: two are kept.
    await Promise.all([write(1, 1), write(1, 1), write(1, 1)])
    expect(made).toBe(3)
    await Promise.all([write(1, 1), write(1, 1)])
    expect(made).toBe(3)
    await write(4, 1024 * 1024)
    await Promise.all([write(1, 1), write(1, 1)])
    expect(made).toBe(4)
  })

  it('has no row of the one whose memory it takes', async () => {
    const put = async (name: string) => {
      const batch = rowBatchOf(level)
      batch.put(Buffer.from(name), Buffer.from(name))
      await batch.write({ sync: false })
    }
    await put('a')
    const removing = rowBatchOf(level)
    removing.del(Buffer.from('a'))
    await removing.write({ sync: false })
    await put('b')
    expect(await rowsOf(level)).toEqual([[Buffer.from('b'), Buffer.from('b')]])
    await level.close()
    await level.open()
    await put('c')
    expect(await rowsOf(level)).toHaveLength(2)
  })

  it('leaves two that the store has to close', async () => {
    let attached = 0
    const count = (change: number, of: 'attachResource' | 'detachResource') => {
      const real = Reflect.get(level, of) as (resource: object) => void
      Reflect.set(level, of, (resource: object) => {
        attached += change
        real.call(level, resource)
      })
    }
    count(1, 'attachResource')
    count(-1, 'detachResource')
    const batches = Array.from({ length: 5 }, () => rowBatchOf(level))
    expect(attached).toBe(5)
    for (const batch of batches) {
      batch.put(Buffer.from('a'), Buffer.from('b'))
      await batch.write({ sync: false })
    }
    expect(attached).toBe(2)
  })

  it('is refused by a store that was closed meanwhile', async () => {
    const batch = rowBatchOf(level)
    batch.put(Buffer.from('a'), Buffer.from('b'))
    await level.close()
    await expect(batch.write({ sync: false })).rejects.toThrow('closed')
    await level.open()
    expect(await rowsOf(level)).toEqual([])
  })
})
