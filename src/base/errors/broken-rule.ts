import { type Code, meanings } from './error-codes.js'
import { pageMeanings } from './page-meanings.js'
import { RuleError } from './rule-error.js'

/** A broken rule whose meaning is its whole message. */
export function brokenRule(code: Code): RuleError {
  return new RuleError(code, meanings[code])
}

/** The same in code that pages load too, without the table of all codes. */
export function brokenPageRule(code: keyof typeof pageMeanings): RuleError {
  return new RuleError(code, pageMeanings[code])
}
