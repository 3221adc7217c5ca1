import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ByteCache, entryOverhead } from '../../../../src/base/runtime/byte-cache.js'

/** Bytes that an entry counts. */
const entry = (key: string, bytes: number) => entryOverhead + key.length + bytes

test('what is used stays, what is not makes room', () => {
  const cache = new ByteCache<number>(8 * entry('key 0', 10))
  for (let i = 0; i < 8; i++) cache.set(`key ${i}`, i, 10)
  expect(cache.get('key 0')).toBe(0)
  cache.set('key 8', 9, 10)
  expect(cache.get('key 0')).toBe(0)
  expect(cache.get('key 1')).toBeUndefined()
  expect(cache.bytes).toBe(8 * entry('key 0', 10))
})

test('an entry larger than an eighth is not kept, and takes the place of no other', () => {
  const cache = new ByteCache<number>(8 * entry('large', 10))
  cache.set('small', 1, 10)
  cache.set('large', 2, 11)
  expect(cache.get('large')).toBeUndefined()
  expect(cache.get('small')).toBe(1)
  cache.set('small', 3, 11)
  expect(cache.get('small')).toBeUndefined()
  expect(cache.bytes).toBe(0)
})

test('it never holds more than its bytes, and counts them right', () => {
  const capacity = 16 * entryOverhead
  const key = fc.oneof(fc.constantFrom(...'abcdefghij'), fc.string({ maxLength: 40 }))
  const step = fc.record({ key, bytes: fc.nat(entryOverhead), get: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const cache = new ByteCache<number>(capacity)
      const newest = new Map<string, number>()
      for (const { key, bytes, get } of steps) {
        if (get) {
          const found = cache.get(key)
          expect(found === undefined || found === newest.get(key)).toBe(true)
        } else {
          cache.set(key, bytes, bytes)
          newest.set(key, bytes)
        }
        const sizes = [...newest.keys()].map((name) => {
          const bytes = cache.get(name)
          return bytes === undefined ? 0 : entry(name, bytes)
        })
        const held = sizes.reduce((a, b) => a + b, 0)
        expect(cache.bytes).toBe(held)
        expect(cache.entries).toBe(sizes.filter((size) => size > 0).length)
        expect(held).toBeLessThanOrEqual(capacity)
      }
      cache.clear()
      expect(cache.bytes).toBe(0)
    }),
    { numRuns: 1000 },
  )
})

test('values of no bytes make room for each other too', () => {
  const capacity = 100 * entryOverhead
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 40 }), { minLength: 200, maxLength: 400 }), (keys) => {
      const cache = new ByteCache<null>(capacity)
      for (const key of keys) cache.set(key, null, 0)
      expect(cache.entries).toBeLessThanOrEqual(100)
      expect(cache.bytes).toBeLessThanOrEqual(capacity)
      expect(cache.get(keys.at(-1) as string)).toBeNull()
    }),
  )
})
