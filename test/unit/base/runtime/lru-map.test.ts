import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { heldBytes } from '../../../support/assert/heap-probe.js'
import { LruMap } from '../../../../src/base/runtime/lru-map.js'

describe('LruMap', () => {
  it('holds no more than its capacity and drops what was used longest ago', () => {
    const map = new LruMap<number>(3)
    map.set('a', 1)
    map.set('b', 2)
    map.set('c', 3)
    expect(map.get('a')).toBe(1)
    map.set('d', 4)
    expect(map.size).toBe(3)
    expect(map.get('b')).toBeUndefined()
    expect([map.get('a'), map.get('c'), map.get('d')]).toEqual([1, 3, 4])
  })

  it('writing a key again makes it the most recent one without growing', () => {
    const map = new LruMap<number>(2)
    map.set('a', 1)
    map.set('b', 2)
    map.set('a', 3)
    map.set('c', 4)
    expect(map.size).toBe(2)
    expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([3, undefined, 4])
  })

  it('shows a value without making it younger, and forgets one or all', () => {
    const map = new LruMap<number>(2)
    map.set('a', 1)
    map.set('b', 2)
    expect(map.peek('a')).toBe(1)
    map.set('c', 3)
    expect([map.peek('a'), map.peek('b'), map.peek('c')]).toEqual([undefined, 2, 3])
    map.delete('b')
    expect([map.size, map.peek('b')]).toEqual([1, undefined])
    map.clear()
    for (const [i, key] of ['d', 'e', 'f'].entries()) map.set(key, i)
    expect([map.size, map.peek('d'), map.peek('e'), map.peek('f')]).toEqual([2, undefined, 1, 2])
  })

  it('keeps nothing of what it has forgotten, full or not', () => {
    for (const capacity of [50, 1_000_000]) {
      const map = new LruMap<number>(capacity)
      let count = 0
      const turnOver = (times: number) => {
        for (const end = count + times; count < end; count++) {
          map.set(`key ${count}`, count)
          map.set('again and again', count)
          map.get(`key ${count}`)
          map.delete(`key ${count - 50}`)
        }
      }
      turnOver(10_000)
      const before = heldBytes()
      turnOver(200_000)
      expect(heldBytes() - before).toBeLessThan(3_000_000)
      expect(map.size).toBeLessThanOrEqual(51)
    }
  })

  it('does what a list would that is searched from the front', () => {
    const step = fc.record({ key: fc.constantFrom(...'abcdefgh'), write: fc.boolean() })
    const property = fc.property(
      fc.integer({ min: 1, max: 5 }),
      fc.array(step, { maxLength: 60 }),
      (capacity, steps) => {
        const map = new LruMap<number>(capacity)
        let list: { key: string; value: number }[] = []
        for (const [value, { key, write }] of steps.entries()) {
          const known = list.find((entry) => entry.key === key)
          if (write) map.set(key, value)
          else expect(map.get(key)).toBe(known?.value)
          const used = write ? { key, value } : known
          if (used !== undefined) list = [...list.filter((entry) => entry.key !== key), used].slice(-capacity)
          expect(map.size).toBe(list.length)
        }
      },
    )
    fc.assert(property, { numRuns: 1000 })
  })
})
