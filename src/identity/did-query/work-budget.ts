import { RuleError } from '../../base/errors/rule-error.js'

/**
 * Takes a few milliseconds.
 * @limit count: elements of arrays that a search condition examines in one document, and parts of 64 characters of texts in which it seeks others
 */
export const effortLimit = 250_000

let left = effortLimit

/** Starts a document. Matching is synchronous, so one count serves all. */
export function beginEffort(): void {
  left = effortLimit
}

/** Elements examined since {@link beginEffort}. */
export function effortSpent(): number {
  return effortLimit - Math.max(0, left)
}

/** Counts elements before they are read. `busy` where one document would delay all other requests. */
export function spend(elements: number): void {
  left -= elements
  if (left >= 0) return
  throw new RuleError(
    'busy',
    `the condition is too much work: a document has large arrays or long texts, and it looks at more than ${effortLimit} elements`,
  )
}
