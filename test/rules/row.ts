import type { Code } from '../../src/errors.js'

/** What shows that a rule holds: one input it refuses, and a neighbour of that input which it accepts. */
export interface RuleRow {
  readonly code: Code
  /** Must not throw. */
  accepts(): void | Promise<void>
  /** Must throw a RuleError of exactly `code`. */
  refuses(): void | Promise<void>
}
