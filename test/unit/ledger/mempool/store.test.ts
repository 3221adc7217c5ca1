import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DropReason } from '../../../../src/ledger/mempool/drop-reason.js'
import { PoolStore } from '../../../../src/ledger/mempool/store.js'
import { mapKey } from '../../../../src/base/primitives/bytes.js'
import { Database } from '../../../../src/ledger/storage/database.js'
import { Overlay } from '../../../../src/ledger/storage/write/overlay.js'
import { tables } from '../../../../src/ledger/storage/rows/tables.js'
import { memoryStore } from '../../../support/builders/chain.js'

const id = (number: number) => new Uint8Array(32).fill(number)
const named = (number: number) => ({ hash: id(number), hashKey: mapKey(id(number)) })
const stored = { arrival: 5, bytes: Uint8Array.of(1, 2, 3) }
const tip = { height: 0, hash: id(0) }

async function open(): Promise<{ database: Database; store: PoolStore; reopen: () => PoolStore }> {
  const database = await Database.over(memoryStore())
  const make = () => new PoolStore(database, 3, () => tip)
  return { database, store: make(), reopen: make }
}

const because = (text: string): DropReason => ({ kind: 'stored', text })

describe('the rows of the pool', () => {
  it('share a batch when they come together, and the next one while that is under way', async () => {
    const { database, store } = await open()
    const first = Array.from({ length: 50 }, (_, i) => store.put(id(i), stored, { sync: true }))
    await Promise.all(first)
    expect(database.sequence).toBe(1)
    const one = store.put(id(60), stored, { sync: false })
    await Promise.resolve()
    const others = Array.from({ length: 50 }, (_, i) => store.put(id(100 + i), stored, { sync: false }))
    await Promise.all([one, ...others])
    expect(database.sequence).toBeLessThanOrEqual(3)
    expect(await store.load()).toHaveLength(101)
  })

  it('come back oldest first, with the reasons of what was dropped', async () => {
    const { store, reopen } = await open()
    await store.put(id(1), { ...stored, arrival: 9 }, { sync: false })
    await store.put(id(2), { ...stored, arrival: 7 }, { sync: false })
    await store.put(id(3), { ...stored, arrival: 8 }, { sync: false })
    await store.drop(id(3), because('because'))
    const again = reopen()
    expect((await again.load()).map(({ arrival }) => arrival)).toEqual([7, 9])
    expect(again.reason(id(3))).toEqual(because('because'))
    expect(again.reason(id(1))).toBe(undefined)
  })

  it('forget the reason of what comes back', async () => {
    const { database, store } = await open()
    await store.drop(id(1), because('because'))
    await store.put(id(1), stored, { sync: false })
    expect(store.reason(id(1))).toBe(undefined)
    expect(database.get(tables.dropped.key(id(1)))).toBe(undefined)
  })

  it('are those of a content that takes their place, whatever was about to be written', async () => {
    const { database, store } = await open()
    await store.put(id(1), stored, { sync: false })
    const late = [store.put(id(2), stored, { sync: false }), store.drop(id(3), because('because'))]
    store.hold()
    const overlay = new Overlay(database)
    const [one, two, other] = [1, 2, 4].map((number) => ({ transaction: { ...named(number), bytes: stored.bytes } }))
    store.replace([one, two] as never, [{ ...other, arrival: 9 }] as never, overlay)
    await overlay.commit({ kind: 'rewind', ...tip }, { sync: false })
    store.release()
    await Promise.all(late)
    await store.flushed()
    const left = [1, 2, 4].map((number) => database.get(tables.pool.key(id(number))) !== undefined)
    expect([...left, database.get(tables.dropped.key(id(3))) !== undefined]).toEqual([false, false, true, true])
  })

  it('keep the newest reasons only', async () => {
    const { store, reopen } = await open()
    for (let number = 1; number <= 5; number++) await store.drop(id(number), because(`reason ${number}`))
    const again = reopen()
    await again.load()
    for (const one of [store, again]) {
      expect([1, 2, 3, 4, 5].map((number) => one.reason(id(number)) !== undefined)).toEqual([
        false,
        false,
        true,
        true,
        true,
      ])
    }
  })

  it('lose the oldest reasons first, whatever restarts come in between', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: -1, max: 11 }), { maxLength: 40 }), async (steps) => {
        const { store: first, reopen } = await open()
        let store = first
        let expected: number[] = []
        for (const step of steps) {
          if (step < 0) {
            await store.flushed()
            store = reopen()
            await store.load()
            continue
          }
          await store.drop(id(step), because(`reason ${step}`))
          expected = [...expected.filter((one) => one !== step), step].slice(-3)
        }
        const known = Array.from({ length: 12 }, (_, i) => i).filter((i) => store.reason(id(i)) !== undefined)
        expect(known).toEqual([...expected].sort((a, b) => a - b))
      }),
      { numRuns: 300 },
    )
  })

  it('counts rows of an earlier version as the oldest', async () => {
    const { database, reopen } = await open()
    const overlay = new Overlay(database)
    for (const number of [1, 2]) overlay.put(tables.dropped.key(id(number)), Buffer.from(`reason ${number}`))
    await overlay.commit({ ...tip, kind: 'pool' }, { sync: true })
    const store = reopen()
    await store.load()
    expect(store.reason(id(1))).toEqual(because('reason 1'))
    await store.drop(id(0), because('newer'))
    await store.drop(id(9), because('newest'))
    expect([0, 1, 2, 9].map((number) => store.reason(id(number)) !== undefined)).toEqual([true, false, true, true])
  })

  it('go with the block that brings the transaction, and with them a write on its way', async () => {
    const { database, store } = await open()
    await store.put(id(1), stored, { sync: false })
    await store.drop(id(2), because('because'))
    const late = store.put(id(3), stored, { sync: false })
    const overlay = new Overlay(database)
    store.mining(named(1), { pooled: true }, overlay)
    store.mining(named(2), { pooled: false }, overlay)
    store.mining(named(3), { pooled: true }, overlay)
    const block = overlay.commit({ kind: 'block', ...tip }, { sync: true })
    // What is said of them now comes too late.
    const after = store.put(id(4), stored, { sync: false })
    const again = store.put(id(1), stored, { sync: true })
    await store.drop(id(3), because('evicted'))
    await Promise.all([late, block, after, again])
    store.mined()
    await store.flushed()
    expect((await store.load()).length).toBe(1)
    expect(database.get(tables.pool.key(id(4)))).toBeDefined()
    expect([1, 2, 3].map((number) => store.reason(id(number)))).toEqual([undefined, undefined, undefined])
    expect(database.get(tables.dropped.key(id(2)))).toBe(undefined)
  })

  it('are on disk once flushed', async () => {
    const { database, store } = await open()
    void store.put(id(1), stored, { sync: false })
    await store.flushed()
    expect(database.get(tables.pool.key(id(1)))).toBeDefined()
    await store.remove(id(1))
    expect(database.get(tables.pool.key(id(1)))).toBe(undefined)
    expect(store.reason(id(1))).toBe(undefined)
  })
})
