import { RuleError } from '../../base/errors/rule-error.js'
import { defined } from '../../base/primitives/defined.js'
import { finish } from '../../base/primitives/steps.js'
import type { JsonObject, JsonValue } from '../../base/primitives/strict-json.js'
import { controlText } from './canonical.js'
import {
  byText,
  chainMembers,
  controlMembers,
  type DocumentForm,
  type DocumentRules,
  documentSteps,
} from './document.js'
import { didText, optionalText, refuseUnknown, textList } from './member-readers.js'
import type { DidDocument } from './model.js'

/** Documents of other tools, which the library reads too: without proof, with several, with controllers and chosen names. */

export type LibraryRules = DocumentRules & { readonly chain: false }

const libraryMembers: ReadonlySet<string> = new Set([...chainMembers, ...controlMembers])

const libraryForm: DocumentForm = {
  refuseMembers: (object) => refuseUnknown(object, libraryMembers, ''),
  control(object, rules) {
    const controllers = controllersOf(object, rules)
    const control = { controllers, ...defined({ multisig: multisigOf(object, controllers.length) }) }
    return { ...control, text: controlText(control) }
  },
  proofs(member, read) {
    if (member === undefined) return []
    if (!Array.isArray(member)) return [read(member, 'proof')]
    return member
      .map((entry, index) => read(entry, `proof[${index}]`))
      .sort((a, b) => byText(a.created ?? '', b.created ?? '') || byText(a.creator, b.creator))
  },
}

/** `parseDocument` for documents that need not be those of a chain. */
export function parseLibraryDocument(value: JsonValue, rules: LibraryRules): DidDocument {
  return finish(documentSteps(value, rules, libraryForm))
}

function controllersOf(object: JsonObject, rules: DocumentRules): readonly string[] {
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
