import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fit, rises } from '../../scripts/soak/fit.js'
import { SeededRandom } from '../support/builders/seeded-random.js'

describe('a line through samples', () => {
  it('is the line that they are on', () => {
    const line = fc.record({
      slope: fc.integer({ min: -100, max: 100 }),
      at: fc.integer(),
      count: fc.integer({ min: 3, max: 50 }),
    })
    const property = fc.property(line, ({ slope, at, count }) => {
      const fitted = fit(Array.from({ length: count }, (_, x) => ({ x, y: at + slope * x })))
      expect(fitted.slope).toBeCloseTo(slope, 3)
      expect(fitted.error).toBeCloseTo(0, 3)
    })
    fc.assert(property, { numRuns: 1000 })
  })

  /** An hour of samples that swing by ±5. */
  const samples = (slope: number) => {
    const random = new SeededRandom(1)
    return Array.from({ length: 360 }, (_, i) => ({ x: i / 360, y: 60 + (slope * i) / 360 + random.below(11) - 5 }))
  }

  it.each([
    [0, false],
    [3, false],
    [9, true],
  ])('rises by %d an hour: beyond what is allowed, %s', (slope, beyond) => {
    expect(rises(fit(samples(slope)), 4)).toBe(beyond)
  })

  it('does not rise for sure where few samples swing much', () => {
    const points = [1, 9, 3, 12].map((y, x) => ({ x, y }))
    expect(fit(points).slope).toBeGreaterThan(2)
    expect(rises(fit(points), 2)).toBe(false)
  })
})
