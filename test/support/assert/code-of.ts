import type { Code } from '../../../src/base/errors/error-codes.js'
import { RuleError } from '../../../src/base/errors/rule-error.js'

/** The code of the rule that `run` breaks; undefined when it breaks none. Anything but a RuleError is thrown on. */
export function codeOf(run: () => unknown): Code | undefined {
  try {
    run()
    return undefined
  } catch (error) {
    if (error instanceof RuleError) return error.code
    throw error
  }
}
