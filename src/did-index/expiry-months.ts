import { monthToken, type Token } from './token.js'

/** Months in which documents expire, for a condition that compares their expiry. */
export interface Months {
  /** Months all of whose days are within, and months of which some may be. */
  readonly sure: readonly Token[]
  readonly possible: readonly Token[]
  /** The condition means every other month. */
  readonly outside: boolean
}

/** A month that may be within bounds; `sure` if all of it is. */
interface MonthWithin {
  readonly month: string
  readonly sure: boolean
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

/** Turns comparisons into months, up to a number of months for a whole condition. */
export class MonthBudget {
  #left = monthsAtMost

  /** The months of comparisons; undefined if they are too many. */
  months(bounds: Bounds): Months | undefined {
    return this.#take(inside(bounds), false) ?? this.#take(beyond(bounds), true)
  }

  /** The month of one text. */
  month(text: string): Months | undefined {
    return this.#take([{ month: text.slice(0, 7), sure: false }].values(), false)
  }

  #take(months: Iterable<MonthWithin>, outside: boolean): Months | undefined {
    const taken: MonthWithin[] = []
    for (const month of months) {
      if (taken.length >= this.#left) return undefined
      taken.push(month)
    }
    this.#left -= taken.length
    const tokens = (isSure: boolean) =>
      taken.filter(({ sure }) => sure === isSure).map(({ month }) => monthToken(month))
    return { sure: tokens(true), possible: tokens(false), outside }
  }
}

/** Months within the bounds; sure if all of their dates are. */
function* inside(bounds: Bounds): Generator<MonthWithin, void> {
  for (const month of monthsWhere((first, last) => bounds.from(last) && bounds.to(first))) {
    yield { month, sure: bounds.from(firstOf(month)) && bounds.to(lastOf(month)) }
  }
}

/** Months that have dates beyond the bounds; sure if all of them are. */
function* beyond(bounds: Bounds): Generator<MonthWithin, void> {
  for (const month of monthsWhere((first, last) => !(bounds.from(first) && bounds.to(last)))) {
    yield { month, sure: !(bounds.from(lastOf(month)) && bounds.to(firstOf(month))) }
  }
}

/** Months of which a test of their first and last date holds. A year of which it does not hold has none. */
function* monthsWhere(test: (first: string, last: string) => boolean): Generator<string, void> {
  for (let year = firstYear; year <= lastYear; year++) {
    if (!test(firstOf(`${year}-01`), lastOf(`${year}-12`))) continue
    for (let number = 1; number <= 12; number++) {
      const month = `${year}-${String(number).padStart(2, '0')}`
      if (test(firstOf(month), lastOf(month))) yield month
    }
  }
}

function firstOf(month: string): string {
  return `${month}-01T00:00:00Z`
}

/** The end of a month in the order of texts: no date of it is later, even if it has fewer days. */
function lastOf(month: string): string {
  return `${month}-31T23:59:59Z`
}
