import { RuleError } from '../../base/errors/rule-error.js'
import { defined } from '../../base/primitives/defined.js'
import type { JsonObject } from '../../base/primitives/strict-json.js'
import { controlText } from './canonical.js'
import type { IdRules } from './identifier.js'
import { didText, optionalText, textList } from './member-readers.js'
import type { DidDocument } from './model.js'

/** The members of a document that name the DIDs which control it: `controller` and `multisig`. */

/** @limit count: controllers of a DID */
export const mostControllers = 16

/** Other DIDs that control this one, and the canonical text of the members that name them. */
export interface Control extends Pick<DidDocument, 'controllers' | 'multisig'> {
  readonly text: string
}

export const controlMembers = ['controller', 'multisig']

/** Reads who controls a DID: a DID, or several with `m:n`. */
export function parseControl(object: JsonObject, rules: IdRules): Control {
  const controllers = controllersOf(object, rules)
  const control = { controllers, ...defined({ multisig: multisigOf(object, controllers.length) }) }
  return { ...control, text: controlText(control) }
}

/**
 * {@link parseControl} of a document on a chain, whose controllers are DIDs of keys. Signatures are over one text, so that there is
 * one way to write a single controller, and one for several.
 */
export function parseChainControl(object: JsonObject, rules: IdRules): Control {
  const value = object.get('controller')
  if (Array.isArray(value) && (value.length < 2 || value.length > mostControllers)) {
    throw fault(`controller is a list of ${value.length}, not of 2 to ${mostControllers} DIDs; a single one is a text`)
  }
  const control = parseControl(object, { ...rules, names: false })
  if (control.controllers.length < 2 && control.multisig !== undefined) {
    throw fault('multisig needs several controllers')
  }
  return control
}

/** The number of controllers that have to sign. */
export function neededControllers({ multisig }: Pick<DidDocument, 'multisig'>): number {
  return Number(multisig?.split(':')[0] ?? 1)
}

function fault(text: string): RuleError {
  return new RuleError('document-controller', text)
}

function controllersOf(object: JsonObject, rules: IdRules): readonly string[] {
  const value = object.get('controller')
  const dids = typeof value === 'string' ? [value] : textList(object, 'controller', '')
  const sorted = dids.map((did, index) => didText(did, `controller[${index}]`, rules)).sort()
  if (new Set(sorted).size !== sorted.length) throw new RuleError('document-reference', 'controller names a DID twice')
  return sorted
}

/** `m:n` with 1 ≤ m ≤ n, n the number of controllers; required for more than one. */
function multisigOf(object: JsonObject, controllers: number): string | undefined {
  const text = optionalText(object, 'multisig', '')
  if (text === undefined) {
    if (controllers > 1) throw new RuleError('document-form', 'multisig is missing: there are several controllers')
    return undefined
  }
  const [m, n] = /^[1-9]\d{0,2}:[1-9]\d{0,2}$/.test(text) ? text.split(':').map(Number) : []
  if (m === undefined || n !== controllers || m > n) {
    throw new RuleError('document-form', `multisig is not m:n for ${controllers} controllers: ${text.slice(0, 40)}`)
  }
  return text
}
