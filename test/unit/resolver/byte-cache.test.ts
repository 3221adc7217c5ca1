import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ByteCache } from '../../../src/resolver/byte-cache.js'

test('what is used stays, what is not makes room', () => {
  const cache = new ByteCache<number>(80)
  for (let i = 0; i < 8; i++) cache.set(`key ${i}`, i, 10)
  expect(cache.get('key 0')).toBe(0)
  cache.set('another', 9, 10)
  expect(cache.get('key 0')).toBe(0)
  expect(cache.get('key 1')).toBeUndefined()
  expect(cache.bytes).toBe(80)
})

test('a value larger than an eighth is not kept, and takes the place of no other', () => {
  const cache = new ByteCache<number>(80)
  cache.set('small', 1, 10)
  cache.set('large', 2, 11)
  expect(cache.get('large')).toBeUndefined()
  expect(cache.get('small')).toBe(1)
  cache.set('small', 3, 11)
  expect(cache.get('small')).toBeUndefined()
  expect(cache.bytes).toBe(0)
})

test('it never holds more than its bytes, and counts them right', () => {
  const step = fc.record({ key: fc.constantFrom(...'abcdefghij'), bytes: fc.nat(20), get: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const cache = new ByteCache<number>(64)
      const newest = new Map<string, number>()
      for (const { key, bytes, get } of steps) {
        if (get) {
          const found = cache.get(key)
          expect(found === undefined || found === newest.get(key)).toBe(true)
        } else {
          cache.set(key, bytes, bytes)
          newest.set(key, bytes)
        }
        const held = [...'abcdefghij'].map((name) => cache.get(name) ?? 0).reduce((a, b) => a + b, 0)
        expect(cache.bytes).toBe(held)
        expect(held).toBeLessThanOrEqual(64)
      }
      cache.clear()
      expect(cache.bytes).toBe(0)
    }),
    { numRuns: 1000 },
  )
})
