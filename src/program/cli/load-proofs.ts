import { UserError } from '../../base/errors/rule-error.js'
import { isShippedSpec, shippedSpecs, shippedTrustFile } from '../../node/library/shipped.js'
import { scanText } from '../../clients/light/json-scan.js'
import { LightError } from '../../clients/light/light-error.js'
import { evidenceFormat } from '../../identity/proofs/fork.js'
import { checkpointFormat, trustFormat } from '../../identity/proofs/trust-root.js'
import { parseJson } from '../../clients/wallet/parse-json.js'
import { readTextOnce } from './read-once.js'

/** Files that commands check proofs by; each fault is a {@link UserError} that names the file. */

/**
 * Headers of miners fill it.
 * @limit bytes: a bundle in a file
 */
export const maxBundleSize = 256 * 1024 * 1024
export const bundleFormat = 'didledger/bundle/1'

/** Whether so many bytes of JSON can be read as a bundle again. */
export function fitsBundle(bytes: number): boolean {
  return bytes <= maxBundleSize
}

/** The Trust of a shipped chain or in a file, parsed. */
export function loadTrust(nameOrFile: string): unknown {
  if (isShippedSpec(nameOrFile)) return loadFormat(shippedTrustFile(nameOrFile), 'Trust', trustFormat)
  const hint = `; a chain that comes with didledger is named ${shippedSpecs.join(', ')}`
  return loadFormat(nameOrFile, 'Trust', trustFormat, hint)
}

export function loadCheckpoint(file: string): unknown {
  return loadFormat(file, 'Checkpoint', checkpointFormat)
}

/** A Bundle, or evidence of a fork. */
export function loadProof(file: string): unknown {
  return loadFormat(file, 'Bundle', [bundleFormat, evidenceFormat], '', maxBundleSize)
}

/** Evidence of a fork. */
export function loadEvidence(file: string): unknown {
  return loadFormat(file, 'evidence of a fork', evidenceFormat, '', maxBundleSize)
}

/** Whether a file that {@link loadProof} read is evidence. */
export function isEvidence(proof: unknown): boolean {
  return (proof as { readonly format: unknown }).format === evidenceFormat
}

/** Maker of each format: a command that prints it, or a program that writes it. */
const madeBy: Readonly<Record<string, string>> = {
  [trustFormat]: 'didledger genesis trust',
  [checkpointFormat]: 'didledger chain checkpoint',
  [bundleFormat]: 'didledger did prove',
  [evidenceFormat]: 'a light resolver, a witness or a node',
}

function loadFormat(
  file: string,
  what: string,
  format: string | readonly [string, ...string[]],
  hint = '',
  most?: number,
): unknown {
  let text: string
  try {
    text = readTextOnce(file, what, most)
  } catch (error) {
    if (error instanceof UserError) throw new UserError(`${error.message}${hint}`)
    throw error
  }
  requireFew(text, what, file)
  const value = parseJson(text, `the ${what} ${file}`)
  const found = typeof value === 'object' && value !== null && 'format' in value ? value.format : undefined
  const [first, ...others] = typeof format === 'string' ? [format] : format
  if ([first, ...others].some((one) => one === found)) return value
  const maker = typeof found === 'string' ? madeBy[found] : undefined
  const other = maker === undefined ? '' : `; this is what ${maker} prints`
  throw new UserError(`${file} is no ${what}: ${madeBy[first]} makes one${other}`)
}

/** Refuses text of many small parts before it is parsed: each takes many times its size in memory. */
function requireFew(text: string, what: string, file: string): void {
  try {
    scanText(text)
  } catch (error) {
    throw error instanceof LightError ? new UserError(`the ${what} ${file}: ${error.message}`) : error
  }
}
