import { RuleError } from '../../base/errors/rule-error.js'

/** A refusal that another attempt may not get, though its code is that of lasting ones too. */
export class PassingError extends RuleError {
  /** Seconds after which another attempt makes sense. */
  readonly retryAfter = 5
}
