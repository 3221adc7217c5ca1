import { type Code, meanings } from './error-codes.js'
import { RuleError } from './rule-error.js'

/** A broken rule whose meaning says all there is to say. */
export function brokenRule(code: Code): RuleError {
  return new RuleError(code, meanings[code])
}
