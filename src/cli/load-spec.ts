import { RuleError, UserError } from '../errors/rule-error.js'
import { isShippedSpec, shippedSpecFile } from '../library/shipped.js'
import { parseSpec, type Spec } from '../primitives/spec.js'
import { readTextFile } from '../wallet/files.js'

/** The chain spec of a shipped name or a file; a {@link UserError} describes any fault. */
export function loadSpec(nameOrFile: string): Spec {
  const path = isShippedSpec(nameOrFile) ? shippedSpecFile(nameOrFile) : nameOrFile
  const text = readTextFile(path, 'chain spec')
  try {
    return parseSpec(text)
  } catch (error) {
    if (!(error instanceof RuleError || error instanceof UserError)) throw error
    throw new UserError(`${path}: ${error.message}`)
  }
}
