import fc from 'fast-check'
import { expect, it } from 'vitest'
import { GrowingBytes } from '../../../../src/ledger/state/growing-bytes.js'

it('bytes that grow are those that were added, in any part', () => {
  const length = fc.oneof(fc.nat(200), fc.integer({ min: 64 * 1024 - 2, max: 64 * 1024 + 2 }), fc.constant(150_000))
  const offset = fc.oneof(fc.nat(400_000), fc.integer({ min: 64 * 1024 - 2, max: 64 * 1024 + 2 }))
  const property = fc.property(fc.array(length, { maxLength: 6 }), offset, offset, (lengths, one, other) => {
    const bytes = new GrowingBytes()
    let value = 0
    const added = lengths.map((size) => Buffer.from(Uint8Array.from({ length: size }, () => value++ * 31)))
    const first = added[0] ?? Buffer.alloc(0)
    for (const some of added) {
      bytes.add(some)
      // Those of before stay as they are.
      expect(bytes.part(0, first.length).equals(first)).toBe(true)
    }
    const all = Buffer.concat(added)
    expect(bytes.length).toBe(all.length)
    const [start, end] = [Math.min(one, other), Math.max(one, other)]
    expect(bytes.part(start, end).equals(all.subarray(start, end))).toBe(true)
  })
  fc.assert(property)
})
