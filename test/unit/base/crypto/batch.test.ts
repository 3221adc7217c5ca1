import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { packBatch, unpackBatch } from '../../../../src/base/crypto/batch.js'
import { equalBytes } from '../../../../src/base/primitives/bytes.js'

const bytes = fc.uint8Array({ maxLength: 80 })
const check = fc.record({
  message: bytes,
  keys: fc.array(bytes, { maxLength: 4 }),
  signatures: fc.array(bytes, { maxLength: 4 }),
})

describe('batches', () => {
  it('come out of the buffer as they went in', () => {
    fc.assert(
      fc.property(fc.array(check, { maxLength: 20 }), (checks) => {
        expect(unpackBatch(packBatch(checks))).toEqual(checks)
      }),
      { numRuns: 1000 },
    )
  })

  it('hold a message once that several checks share', () => {
    const message = new Uint8Array(100_000).fill(5)
    const checks = Array.from({ length: 50 }, (_, index) => ({
      message,
      keys: [new Uint8Array(33).fill(index)],
      signatures: [new Uint8Array(64).fill(index)],
    }))
    const buffer = packBatch(checks)
    expect(buffer.byteLength).toBeLessThan(110_000)
    const unpacked = unpackBatch(buffer)
    expect(unpacked.every((check) => equalBytes(check.message, message))).toBe(true)
    expect(unpacked.map(({ keys, signatures }) => ({ keys, signatures }))).toEqual(
      checks.map(({ keys, signatures }) => ({ keys, signatures })),
    )
  })
})
