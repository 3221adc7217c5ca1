import { RuleError } from '../../../base/errors/rule-error.js'
import type { CallEffect } from '../node-handles.js'

/** The error for a node that does not answer. */
export function unanswered(why: string, effect: CallEffect): RuleError {
  const left = effect === 'none' ? '' : '; it may have done it nevertheless'
  return new RuleError('followed-unreachable', `the node that this one follows got no further: ${why}${left}`)
}
