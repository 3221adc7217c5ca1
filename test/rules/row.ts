import type { Code } from '../../src/base/errors/error-codes.js'
import type { OtherState } from './states.js'

/** What shows that a rule holds: one input it refuses, and a neighbour of that input which it accepts. */
export interface RuleRow {
  readonly code: Code
  /** Must not throw. In another state the same input may be refused. */
  accepts(state?: OtherState): void | Promise<void>
  /** Must throw a RuleError of exactly `code`. In another state the same input may meet another result. */
  refuses(state?: OtherState): void | Promise<void>
}
