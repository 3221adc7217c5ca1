import { monthToken, type Token } from './token.js'

/** Months in which documents expire, for a condition that compares their expiry. */
export interface Months {
  /** Months all of whose days are within, and months of which some may be. */
  readonly sure: readonly Token[]
  readonly possible: readonly Token[]
  /** The condition means every other month. */
  readonly outside: boolean
}

/** Comparisons of a date text, by UTF-16 code units. All of them must hold. */
export interface Bounds {
  /** Whether a date is late enough; it holds for every later date as well. */
  readonly from: (date: string) => boolean
  /** Whether a date is early enough; it holds for every earlier date as well. */
  readonly to: (date: string) => boolean
}

/**
 * Two centuries: from 1970 on, or up to 9999, mostly one side of a comparison is shorter.
 * @limit count: months of expiry of which a search reads the postings
 */
const monthsAtMost = 2400

const firstYear = 1970
const lastYear = 9999

/** Months by their number from January of the first year on: `from` to before `end`, none if both are equal. */
interface Range {
  readonly from: number
  readonly end: number
}

const everyMonth: Range = { from: 0, end: 12 * (lastYear - firstYear + 1) }

/** Turns comparisons into months, up to a number of months for a whole condition. */
export class MonthBudget {
  #left = monthsAtMost

  /** The months of comparisons; undefined if they are too many. */
  months(bounds: Bounds): Months | undefined {
    const some = rangeOf({ from: (month) => bounds.from(lastOf(month)), to: (month) => bounds.to(firstOf(month)) })
    const whole = rangeOf({ from: (month) => bounds.from(firstOf(month)), to: (month) => bounds.to(lastOf(month)) })
    const possible = without(some, whole)
    return this.#take([whole], possible, false) ?? this.#take(without(everyMonth, some), possible, true)
  }

  /** The month of one text. */
  month(text: string): Months | undefined {
    if (this.#left === 0) return undefined
    this.#left--
    return { sure: [], possible: [monthToken(text.slice(0, 7))], outside: false }
  }

  #take(sure: readonly Range[], possible: readonly Range[], outside: boolean): Months | undefined {
    const count = [...sure, ...possible].reduce((sum, { from, end }) => sum + end - from, 0)
    if (count > this.#left) return undefined
    this.#left -= count
    return { sure: tokensOf(sure), possible: tokensOf(possible), outside }
  }
}

/** Months for which both sides hold. They are found by halving: a condition may have a hundred comparisons. */
function rangeOf({ from, to }: { from: (month: number) => boolean; to: (month: number) => boolean }): Range {
  const start = firstWhere(from)
  return {
    from: start,
    end: Math.max(
      start,
      firstWhere((month) => !to(month)),
    ),
  }
}

/** The first month for which a test holds, which holds for every later one as well; behind the last one if there is none. */
function firstWhere(test: (month: number) => boolean): number {
  let { from, end } = everyMonth
  while (from < end) {
    const middle = (from + end) >>> 1
    if (test(middle)) end = middle
    else from = middle + 1
  }
  return from
}

/** The months of a range that are not in another one. */
function without({ from, end }: Range, other: Range): readonly Range[] {
  const before = { from, end: Math.min(end, other.from) }
  const after = { from: Math.max(from, other.end), end }
  return [before, after].filter((range) => range.from < range.end)
}

function tokensOf(ranges: readonly Range[]): readonly Token[] {
  return ranges.flatMap(({ from, end }) => Array.from({ length: end - from }, (_, i) => monthToken(nameOf(from + i))))
}

/** The text of a month, `YYYY-MM`. */
function nameOf(month: number): string {
  return `${firstYear + Math.floor(month / 12)}-${String((month % 12) + 1).padStart(2, '0')}`
}

function firstOf(month: number): string {
  return `${nameOf(month)}-01T00:00:00Z`
}

/** The end of a month in the order of texts: no date of it is later, even if it has fewer days. */
function lastOf(month: number): string {
  return `${nameOf(month)}-31T23:59:59Z`
}
