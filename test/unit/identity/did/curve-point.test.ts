import { p256 } from '@noble/curves/nist.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isPoint } from '../../../../src/identity/did/curve-point.js'
import { toHex } from '../../../../src/base/primitives/bytes.js'
import { bytes, runs } from '../../../support/builders/arbitraries.js'
import { seededRandom } from '../../../support/builders/seeded-bytes.js'
import { rounds } from '../../../support/process/thorough.js'

function isPointOfNoble(key: Uint8Array): boolean {
  try {
    p256.Point.fromBytes(key)
    return true
  } catch {
    return false
  }
}

const prime = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n
const key = (x: bigint, first = 2) => Buffer.from(`0${first}${x.toString(16).padStart(64, '0')}`, 'hex')

describe('a point of P-256', () => {
  it('is what another implementation takes for one', () => {
    const x = fc.oneof(
      { weight: 6, arbitrary: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }) },
      { weight: 2, arbitrary: fc.bigInt({ min: 0n, max: 1000n }) },
      { weight: 2, arbitrary: fc.bigInt({ min: prime - 500n, max: prime + 500n }) },
      { weight: 1, arbitrary: fc.nat(255).map((bit) => 2n ** BigInt(bit)) },
    )
    const seen = new Set<boolean>()
    fc.assert(
      fc.property(x, fc.integer({ min: 0, max: 7 }), (coordinate, first) => {
        const compressed = key(coordinate, first)
        seen.add(isPoint(compressed))
        // Forms 00 and 05 to 07 are of other lengths or no form at all.
        expect(isPoint(compressed)).toBe((first === 2 || first === 3) && isPointOfNoble(compressed))
      }),
      runs,
    )
    expect(seen.size).toBe(2)
  })

  it('is what another implementation takes for one, at every edge of its words', () => {
    const edges = Array.from({ length: 257 }, (_, bit) => 2n ** BigInt(bit))
    const near = edges.flatMap((edge) => [edge, prime - edge, 2n ** 256n - edge]).flatMap((x) => [x - 1n, x, x + 1n])
    for (const x of [...near, 0n, prime - 1n, prime, prime + 1n]) {
      if (x < 0n || x >= 2n ** 256n) continue
      expect(isPoint(key(x)), x.toString(16)).toBe(isPointOfNoble(key(x)))
    }
  })

  it('is what another implementation takes for one, of random bytes', { timeout: 1_800_000 }, () => {
    const random = seededRandom('points')
    const count = rounds(1000, 1_000_000)
    let points = 0
    for (let i = 0; i < count; i++) {
      const compressed = random.bytes(33)
      compressed[0] = 2 + (i & 1)
      const expected = isPointOfNoble(compressed)
      if (isPoint(compressed) !== expected) expect(toHex(compressed)).toBe(expected ? 'a point' : 'no point')
      if (expected) points++
    }
    expect(points / count).toBeGreaterThan(0.4)
    expect(points / count).toBeLessThan(0.6)
  })

  it('has 33 bytes', () => {
    fc.assert(
      fc.property(bytes(0, 66), (other) => other.length === 33 || !isPoint(other)),
      runs,
    )
  })
})
