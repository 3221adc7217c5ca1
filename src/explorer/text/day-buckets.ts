import { moment, secondsOf } from './times.js'

/** Days of a chain put together, as many as a chart has room for. Pure. */

/** Counters of a day, as `listdays` has them. */
export interface CountedDay {
  /** YYYY-MM-DD. */
  readonly day: string
}

/** Neighbouring days, with the rows of those that have blocks. */
export interface Bucket<Day extends CountedDay> {
  readonly from: string
  readonly to: string
  /** Number of its days, with those that have no row. */
  readonly length: number
  readonly rows: readonly Day[]
}

const secondsOfDay = 86_400

/** Days since 1970; NaN for what names no day. */
function numberOf({ day }: CountedDay): number {
  return (secondsOf(`${day}T00:00:00Z`) ?? NaN) / secondsOfDay
}

function textOf(day: number): string {
  return moment(day * secondsOfDay).slice(0, 10)
}

/**
 * The last `span` days in at most `most` buckets of equal length, the last one shorter where they do not divide. Rows that name no day are
 * left out, and rows are in the order of days.
 */
export function bucketsOf<Day extends CountedDay>(
  days: readonly Day[],
  { span, most }: { readonly span: number; readonly most: number },
): Bucket<Day>[] {
  const numbered = days.map((row) => ({ row, day: numberOf(row) })).filter(({ day }) => Number.isInteger(day))
  const last = numbered.at(-1)?.day
  if (last === undefined) return []
  const first = Math.max(numbered[0]?.day ?? last, last - span + 1)
  const length = Math.ceil((last - first + 1) / most)
  const buckets: Bucket<Day>[] = []
  let next = numbered.findIndex(({ day }) => day >= first)
  for (let from = first; from <= last; from += length) {
    const to = Math.min(from + length - 1, last)
    const rows: Day[] = []
    for (; next < numbered.length && (numbered[next]?.day ?? last) <= to; next++) rows.push(numbered[next]?.row as Day)
    buckets.push({ from: textOf(from), to: textOf(to), length: to - from + 1, rows })
  }
  return buckets
}

/** The sum of a figure over the days of a bucket, divided by their number; null where a day lacks the figure. */
export function perDay<Day extends CountedDay>(
  { rows, length }: Bucket<Day>,
  figure: (row: Day) => number | undefined,
): number | null {
  let sum = 0
  for (const row of rows) {
    const value = figure(row)
    if (value === undefined) return null
    sum += value
  }
  return sum / length
}

/** Seconds from a block to the next one, on average over a bucket; null where no block has one before it. */
export function blockTime({
  rows,
}: Bucket<CountedDay & { readonly seconds: number; readonly intervals: number }>): number | null {
  const intervals = rows.reduce((sum, row) => sum + row.intervals, 0)
  return intervals === 0 ? null : rows.reduce((sum, { seconds }) => sum + seconds, 0) / intervals
}
