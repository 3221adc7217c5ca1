import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { blockTime, bucketsOf, perDay } from '../../../../src/explorer/text/day-buckets.js'

const dayText = (day: number) => new Date(day * 86_400_000).toISOString().slice(0, 10)
const all = { span: Infinity, most: 90 }

/** Rows of days, each with its number as figure. */
const rowsOf = (days: readonly number[]) => days.map((day) => ({ day: dayText(day), count: day }))

describe('buckets of days', () => {
  it('are the days themselves where there is room, with those that have no row', () => {
    expect(bucketsOf([], all)).toEqual([])
    const [row] = rowsOf([20_000])
    expect(bucketsOf(rowsOf([20_000]), all)).toEqual([{ from: '2024-10-04', to: '2024-10-04', length: 1, rows: [row] }])
    const buckets = bucketsOf(rowsOf([20_000, 20_002]), all)
    expect(buckets.map(({ from, rows }) => [from, rows.length])).toEqual([
      ['2024-10-04', 1],
      ['2024-10-05', 0],
      ['2024-10-06', 1],
    ])
  })

  it('have two days each from one day more than there is room for', () => {
    const days = (count: number) => rowsOf(Array.from({ length: count }, (_, i) => 20_000 + i))
    expect(bucketsOf(days(90), all).map(({ length }) => length)).toEqual(Array(90).fill(1))
    expect(bucketsOf(days(91), all).map(({ length }) => length)).toEqual([...Array<number>(45).fill(2), 1])
    expect(bucketsOf(days(10_000), all)).toHaveLength(90)
  })

  it('have the last days of a span alone', () => {
    const buckets = bucketsOf(rowsOf([20_000, 20_010, 20_039, 20_040]), { span: 30, most: 90 })
    expect([buckets.length, buckets[0]?.from, buckets.at(-1)?.to]).toEqual([30, dayText(20_011), dayText(20_040)])
    expect(buckets.flatMap(({ rows }) => rows)).toHaveLength(2)
  })

  it('follow each other without a gap, and have every row once, whatever days have one', () => {
    const some = fc.uniqueArray(fc.integer({ min: 10_000, max: 40_000 }), { minLength: 1, maxLength: 300 })
    fc.assert(
      fc.property(some, fc.integer({ min: 1, max: 90 }), (days, most) => {
        const sorted = days.toSorted((a, b) => a - b)
        const buckets = bucketsOf(rowsOf(sorted), { span: Infinity, most })
        expect(buckets.length).toBeLessThanOrEqual(most)
        expect(buckets.flatMap(({ rows }) => rows.map(({ count }) => count))).toEqual(sorted)
        let next = sorted[0] as number
        for (const { from, to, length, rows } of buckets) {
          expect(from).toBe(dayText(next))
          next += length
          expect(to).toBe(dayText(next - 1))
          expect(rows.every(({ day }) => day >= from && day <= to)).toBe(true)
        }
        expect(next - 1).toBe(sorted.at(-1))
      }),
    )
  })

  it('leave out what names no day, and rows in no order', () => {
    const odd = ['', '2026-02', 'x'.repeat(1000), '2026-01-01T00:00:00Z'].map((day) => ({ day }))
    expect(bucketsOf(odd, all)).toEqual([])
    const days = [...odd, { day: '2026-01-02' }]
    expect(bucketsOf(days, all).map(({ from, rows }) => [from, rows.length])).toEqual([['2026-01-02', 1]])
    expect(bucketsOf([{ day: '2026-01-02' }, { day: '2026-01-01' }], all)).toEqual([])
  })
})

describe('figures of a bucket', () => {
  const rows = [
    { day: '2026-01-01', fees: 3, seconds: 30, intervals: 2 },
    { day: '2026-01-02', fees: 6, seconds: 10, intervals: 2 },
  ]
  const bucket = { from: '2026-01-01', to: '2026-01-03', length: 3, rows }

  it('are sums a day, over days without blocks too', () => {
    expect(perDay(bucket, ({ fees }) => fees)).toBe(3)
    expect(perDay({ ...bucket, rows: [] }, () => 1)).toBe(0)
  })

  it('are unknown where a day lacks one', () => {
    expect(perDay(bucket, ({ day, fees }) => (day === '2026-01-02' ? undefined : fees))).toBeNull()
  })

  it('have the time of a block as the mean of all, and none without two blocks', () => {
    expect(blockTime(bucket)).toBe(10)
    expect(blockTime({ ...bucket, rows: rows.map((row) => ({ ...row, seconds: 0, intervals: 0 })) })).toBeNull()
  })
})
