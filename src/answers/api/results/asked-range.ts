import { RuleError } from '../../../base/errors/rule-error.js'

/** Ranges of heights or days that a request names, both ends included. */

export interface AskedRange {
  readonly from: number | undefined
  readonly to: number | undefined
}

/** Throws `request-parameter` for a range that is no range, or has more than `most` of a unit. */
export function checkRange(
  { from, to }: AskedRange,
  most: number,
  unit: string,
  text: (value: number) => string = String,
): void {
  if (from === undefined || to === undefined) return
  if (from > to) throw new RuleError('request-parameter', `from: ${text(from)} is above to, ${text(to)}`)
  const count = to - from + 1
  if (count > most)
    throw new RuleError('request-parameter', `to: ${count} ${unit} from ${text(from)} on, at most ${most}`)
}

/** The part of a range up to `end`: at most `most`, the last ones unless `from` says otherwise. It is empty where `first` is above `last`. */
export function boundsOf({ from, to }: AskedRange, most: number, end: number): { first: number; last: number } {
  const last = Math.min(to ?? (from === undefined ? end : from + most - 1), end)
  return { first: from ?? Math.max(0, last - most + 1), last }
}
