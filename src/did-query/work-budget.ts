import { RuleError } from '../errors/rule-error.js'

/** Elements of arrays that may be looked at to hold one document against a condition: some milliseconds of work. */
export const effortLimit = 250_000

let left = effortLimit

/** Begins with a document. Nothing else comes in between until it is done with, so there is one count for all. */
export function beginEffort(): void {
  left = effortLimit
}

/** Counts elements that are about to be looked at. `busy` where one document would hold up everybody else. */
export function spend(elements: number): void {
  left -= elements
  if (left >= 0) return
  throw new RuleError(
    'busy',
    `the condition is too much work: a document has large arrays, and it looks at more than ${effortLimit} elements`,
  )
}
