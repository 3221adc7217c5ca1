import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Bounds, MonthBudget } from '../../../../src/identity/did-index/expiry-months.js'
import { monthToken } from '../../../../src/identity/did-index/token.js'

/** Months with the first and the last text of a date in them. */
const every = Array.from({ length: 12 * 8030 }, (_, i) => {
  const name = `${1970 + Math.floor(i / 12)}-${`${(i % 12) + 1}`.padStart(2, '0')}`
  return { name, first: `${name}-01T00:00:00Z`, last: `${name}-31T23:59:59Z` }
})

/** Bounds of texts; `calls` counts comparisons. */
class CountedBounds implements Bounds {
  calls = 0
  constructor(
    readonly after: string,
    readonly before: string,
  ) {}
  readonly from = (date: string) => (this.calls++, date >= this.after)
  readonly to = (date: string) => (this.calls++, date < this.before)
}

const bound = fc.oneof(
  fc.constantFrom(
    '',
    '1969',
    '2',
    '20',
    '9',
    '9999-12-31T23:59:59Z',
    'z',
    '2027-13',
    '2027-00',
    '2027-06-3',
    '2027-07-0',
  ),
  fc
    .tuple(
      fc.constantFrom(1970, 2026, 2027, 2028, 9998, 9999),
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 1, max: 31 }),
    )
    .map(([year, month, day]) => `${year}-${`${month}`.padStart(2, '0')}-${`${day}`.padStart(2, '0')}T00:00:00Z`)
    .chain((date) => fc.integer({ min: 4, max: date.length }).map((length) => date.slice(0, length))),
)

describe('MonthBudget', () => {
  it('has the months that are within bounds, and those that may be', () => {
    fc.assert(
      fc.property(bound, bound, (after, before) => {
        const bounds = new CountedBounds(after, before)
        const months = new MonthBudget().months(bounds)
        if (months === undefined) return
        const whole = new Set(every.filter(({ first, last }) => first >= after && last < before))
        const some = new Set(every.filter(({ first, last }) => last >= after && first < before))
        const sure = months.outside ? every.filter((month) => !some.has(month)) : [...whole]
        const tokensOf = (these: readonly { name: string }[]) => these.map(({ name }) => monthToken(name)).sort()
        expect([...months.sure].sort()).toEqual(tokensOf(sure))
        expect([...months.possible].sort()).toEqual(tokensOf([...some].filter((month) => !whole.has(month))))
      }),
      { numRuns: 50 },
    )
  })

  it('finds them in few comparisons, whatever the bounds', () => {
    fc.assert(
      fc.property(bound, bound, (after, before) => {
        const bounds = new CountedBounds(after, before)
        new MonthBudget().months(bounds)
        expect(bounds.calls).toBeLessThan(80)
      }),
    )
  })
})
