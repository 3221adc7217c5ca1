import { RuleError, UserError } from '../../base/errors/rule-error.js'
import { isShippedSpec, shippedSpecFile, shippedSpecs } from '../../node/library/shipped.js'
import type { Spec } from '../../base/primitives/spec.js'
import { parseSpec } from '../../base/primitives/spec-file.js'
import { isThere } from '../../clients/wallet/files.js'
import { readTextOnce } from './read-once.js'

/** The chain spec of a shipped name or a file; a {@link UserError} describes any fault. */
export function loadSpec(nameOrFile: string): Spec {
  const path = isShippedSpec(nameOrFile) ? shippedSpecFile(nameOrFile) : nameOrFile
  if (path !== '-' && !isThere(path, 'chain spec')) {
    const names = shippedSpecs.join(', ')
    throw new UserError(
      `cannot read the chain spec ${path}: there is no such file, and no chain of that name comes with didledger; ` +
        `the chains that do: ${names}`,
    )
  }
  return specIn(readTextOnce(path, 'chain spec'), path)
}

/** The chain spec in the text of a file; a {@link UserError} that names the file describes any fault. */
export function specIn(text: string, path: string): Spec {
  try {
    return parseSpec(text)
  } catch (error) {
    if (!(error instanceof RuleError || error instanceof UserError)) throw error
    throw new UserError(`${path}: ${error.message}`)
  }
}
