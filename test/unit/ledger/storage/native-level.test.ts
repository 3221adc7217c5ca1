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

  it('leaves nothing that the store would have to close', async () => {
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
    const batch = rowBatchOf(level)
    expect(attached).toBe(1)
    batch.put(Buffer.from('a'), Buffer.from('b'))
    await batch.write({ sync: false })
    expect(attached).toBe(0)
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
