import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { medianOffset, reportedOffset } from '../../../../src/node/standing/clock-offset.js'

describe('the middle of the clocks', () => {
  it.each<[readonly number[], number, number]>([
    [[], 0, 0],
    [[], 3, 0],
    [[5], 1, 5],
    [[5, 7, 9], 3, 7],
    // Those not known count as right.
    [[90, 90], 4, 0],
    [[90, 90, 90], 4, 90],
    [[-90, -90, -90], 5, -90],
    // Of two middles the nearer to zero.
    [[-8, 6], 2, 6],
    [[4, 90], 2, 4],
  ])('of %j among %i is %i', (offsets, sources, middle) => {
    expect(medianOffset(offsets, sources)).toBe(middle)
  })

  it('is not moved by less than half of them, whatever they state', () => {
    const lies = fc.array(fc.integer({ min: -1e12, max: 1e12 }), { maxLength: 49 })
    fc.assert(
      fc.property(lies, fc.integer({ min: 1, max: 50 }), (stated, more) => {
        const honest = Array.from({ length: stated.length + more }, (_, i) => (i % 3) - 1)
        expect(Math.abs(medianOffset([...stated, ...honest], stated.length + honest.length))).toBeLessThanOrEqual(1)
        expect(medianOffset(stated, 2 * stated.length + more)).toBe(0)
      }),
    )
  })
})

describe('what is reported', () => {
  const bounds = { behind: 15_000, ahead: 24_000 }
  it.each<[number, boolean, boolean]>([
    [15_000, false, false],
    [15_001, false, true],
    [-24_000, false, false],
    [-24_001, false, true],
    // Once reported, until half of the bound.
    [7_501, true, true],
    [7_500, true, false],
    [-12_001, true, true],
    [-12_000, true, false],
  ])('%i ms, with a report before: %s -> %s', (median, before, reported) => {
    expect(reportedOffset(median, bounds, before)).toBe(reported ? median : undefined)
  })
})
