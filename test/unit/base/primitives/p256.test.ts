import { p256 } from '@noble/curves/nist.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { coordinatesByRoot, coordinatesOf, prime } from '../../../../src/base/primitives/p256.js'
import { runs } from '../../../support/builders/arbitraries.js'

const noble = (key: Uint8Array): string | undefined => {
  try {
    return p256.Point.fromBytes(key).toHex(false)
  } catch {
    return undefined
  }
}

describe('the coordinates of a point of P-256', () => {
  it.each([
    ['by OpenSSL', coordinatesOf],
    ['by a root, as in a web page', coordinatesByRoot],
  ])('are those that another implementation finds, for points alone: %s', (_, coordinates) => {
    const x = fc.oneof(
      { weight: 6, arbitrary: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }) },
      { weight: 1, arbitrary: fc.bigInt({ min: 0n, max: 1000n }) },
      { weight: 1, arbitrary: fc.bigInt({ min: prime - 500n, max: prime + 500n }) },
    )
    const seen = new Set<boolean>()
    fc.assert(
      fc.property(x, fc.integer({ min: 2, max: 3 }), (coordinate, first) => {
        const key = Buffer.from(`0${first}${coordinate.toString(16).padStart(64, '0')}`, 'hex')
        const found = coordinates(key)
        seen.add(found === undefined)
        expect(found && `04${Buffer.from(found.x).toString('hex')}${Buffer.from(found.y).toString('hex')}`).toBe(
          noble(key),
        )
      }),
      runs,
    )
    expect(seen.size).toBe(2)
  })

  it('are those of no other form and of no other length', () => {
    const key = p256.Point.BASE.toBytes(true)
    expect(coordinatesOf(key)).toBeDefined()
    expect(coordinatesByRoot(key)).toBeDefined()
    for (const bytes of [
      new Uint8Array(0),
      key.slice(1),
      Uint8Array.of(...key, 0),
      Uint8Array.of(4, ...key.slice(1)),
    ]) {
      expect(coordinatesOf(bytes)).toBeUndefined()
      expect(coordinatesByRoot(bytes)).toBeUndefined()
    }
  })
})
