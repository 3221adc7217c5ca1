import { UserError } from '../errors/rule-error.js'
import { isShippedSpec, shippedSpecs, shippedTrustFile } from '../library/shipped.js'
import { checkpointFormat, trustFormat } from '../proofs/trust.js'
import { readTextFile } from '../wallet/files.js'
import { parseJson } from '../wallet/parse-json.js'

/** Files that commands check proofs by; each fault is a {@link UserError} that names the file. */

/**
 * Headers of miners fill it.
 * @limit bytes: a bundle in a file
 */
export const maxBundleSize = 256 * 1024 * 1024
export const bundleFormat = 'didledger/bundle/1'

/** The Trust of a shipped chain or in a file, parsed. */
export function loadTrust(nameOrFile: string): unknown {
  if (isShippedSpec(nameOrFile)) return loadFormat(shippedTrustFile(nameOrFile), 'Trust', trustFormat)
  const hint = `; a chain that comes with didledger is named ${shippedSpecs.join(', ')}`
  return loadFormat(nameOrFile, 'Trust', trustFormat, hint)
}

export function loadCheckpoint(file: string): unknown {
  return loadFormat(file, 'Checkpoint', checkpointFormat)
}

export function loadBundle(file: string): unknown {
  return loadFormat(file, 'Bundle', bundleFormat, '', maxBundleSize)
}

/** What each format is made by. */
const madeBy: Readonly<Record<string, string>> = {
  [trustFormat]: 'didledger genesis trust',
  [checkpointFormat]: 'didledger chain checkpoint',
  [bundleFormat]: 'didledger did prove',
}

function loadFormat(file: string, what: string, format: string, hint = '', most?: number): unknown {
  let text: string
  try {
    text = readTextFile(file, what, most)
  } catch (error) {
    if (error instanceof UserError) throw new UserError(`${error.message}${hint}`)
    throw error
  }
  const value = parseJson(text, `the ${what} ${file}`)
  const found = typeof value === 'object' && value !== null && 'format' in value ? value.format : undefined
  if (found === format) return value
  const maker = typeof found === 'string' ? madeBy[found] : undefined
  const other = maker === undefined ? '' : `; this is what ${maker} prints`
  throw new UserError(`${file} is no ${what}: ${madeBy[format]} makes one${other}`)
}
