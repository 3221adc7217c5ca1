import { UserError } from '../../base/errors/rule-error.js'
import { parseAddress } from '../../base/primitives/address.js'
import { visible } from '../../base/runtime/visible-text.js'
import { withFileLock } from './file-lock.js'
import { isThere, readJsonFile, writeFileAtomically } from './files.js'

/**
 * Names that a user gives to addresses, in a file beside the keystore. It is not sealed: names change without a password, and a file that
 * someone else wrote can name other addresses. So a command says which address a label means before it pays.
 */

/** Labels by address. */
export type Labels = ReadonlyMap<string, string>

export const labelLimits = {
  /** @limit characters: label of an address */
  length: 64,
  /** @limit count: labels beside one keystore */
  count: 1_000,
} as const

const format = 'didledger-labels'

/** The file with the labels that belong to a keystore. */
export function labelsPath(wallet: string): string {
  return `${wallet}.labels.json`
}

/** The labels of a file; none where it does not exist. A {@link UserError} for one that {@link writeLabels} would not write. */
export function readLabels(path: string): Labels {
  if (!isThere(path, 'file of labels')) return new Map()
  const file = readJsonFile(path, 'file of labels') as { format?: unknown; version?: unknown; labels?: unknown } | null
  const { labels } = file ?? {}
  if (file?.format !== format || file.version !== 1 || typeof labels !== 'object' || labels === null) {
    throw new UserError(`${path} holds no labels: it needs "format": "${format}", "version": 1 and "labels"`)
  }
  try {
    return Object.entries(labels).reduce<Labels>((all, [address, text]) => withLabel(all, address, text), new Map())
  } catch (error) {
    if (error instanceof UserError) throw new UserError(`the file of labels ${path} is damaged: ${error.message}`)
    throw error
  }
}

/** Writes all labels into a file in place of those in it. */
export function writeLabels(path: string, labels: Labels): void {
  const file = { format, version: 1, labels: Object.fromEntries(labels) }
  writeFileAtomically(path, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600, replace: true })
}

/** Changes the labels in a file, also while other commands do; resolves with those that are there now. */
export function changeLabels(path: string, change: (labels: Labels) => Labels): Promise<Labels> {
  return withFileLock(path, () => {
    const changed = change(readLabels(path))
    writeLabels(path, changed)
    return changed
  })
}

/** The labels with one more, or another one, for an address; a {@link UserError} for a text that is no label. */
export function withLabel(labels: Labels, address: string, text: unknown): Labels {
  if (parseAddress(address) === undefined) throw new UserError(`${address.slice(0, 100)} is no address`)
  const label = labelOf(text)
  const other = addressOfLabel(labels, label)
  if (other !== undefined && other !== address) {
    throw new UserError(`the label "${label}" is that of ${other} already: one label names one address`)
  }
  if (!labels.has(address) && labels.size >= labelLimits.count) {
    throw new UserError(`there are ${labels.size} labels, and at most ${labelLimits.count} are kept: remove one first`)
  }
  return new Map([...labels, [address, label]])
}

/** The labels without that of an address; a {@link UserError} if it has none. */
export function withoutLabel(labels: Labels, address: string): Labels {
  if (!labels.has(address)) throw new UserError(`${address} has no label`)
  return new Map([...labels].filter(([each]) => each !== address))
}

/** The address with exactly this label. */
export function addressOfLabel(labels: Labels, text: string): string | undefined {
  const label = text.normalize('NFC')
  return [...labels].find(([, each]) => each === label)?.[0]
}

/** A text as a label: what is seen, in one line, and not to be taken for an address, a DID, an option or a formula. */
function labelOf(text: unknown): string {
  if (typeof text !== 'string') throw new UserError('a label is a text')
  const label = text.normalize('NFC').trim()
  const { length } = [...label]
  if (length === 0) throw new UserError('a label has at least one character')
  if (length > labelLimits.length) {
    throw new UserError(`a label has at most ${labelLimits.length} characters, not ${length}`)
  }
  if (visible(label) !== label) throw new UserError(`the label "${label}" has characters that are not seen`)
  if (parseAddress(label) !== undefined || /^did:|^[1-9A-HJ-NP-Za-km-z]{30,}$/.test(label)) {
    throw new UserError(`the label "${label}" could be taken for an address or a DID`)
  }
  if (/^[-=+@]/.test(label)) throw new UserError(`a label does not begin with ${label.slice(0, 1)}`)
  return label
}
