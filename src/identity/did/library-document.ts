import { finish } from '../../base/primitives/steps.js'
import type { JsonValue } from '../../base/primitives/strict-json.js'
import { controlMembers, parseControl } from './control.js'
import { chainMembers, type DocumentForm, type DocumentRules, documentSteps, sortProofs } from './document.js'
import { refuseUnknown } from './member-readers.js'
import type { DidDocument } from './model.js'

/** Documents of other tools, which the library reads too: without proof, with several, with controllers and chosen names. */

export type LibraryRules = DocumentRules & { readonly chain: false }

const libraryMembers: ReadonlySet<string> = new Set([...chainMembers, ...controlMembers])

const libraryForm: DocumentForm = {
  refuseMembers: (object) => refuseUnknown(object, libraryMembers, ''),
  control: parseControl,
  proofs(member, read) {
    if (member === undefined) return []
    if (!Array.isArray(member)) return [read(member, 'proof')]
    return sortProofs(member.map((entry, index) => read(entry, `proof[${index}]`)))
  },
}

/** `parseDocument` for documents that need not be those of a chain. */
export function parseLibraryDocument(value: JsonValue, rules: LibraryRules): DidDocument {
  return finish(documentSteps(value, rules, libraryForm))
}
