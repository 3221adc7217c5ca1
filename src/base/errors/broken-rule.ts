import { type Code, meanings } from './error-codes.js'
import { RuleError } from './rule-error.js'

/** A broken rule whose meaning is its whole message. */
export function brokenRule(code: Code): RuleError {
  return new RuleError(code, meanings[code])
}
