import { RuleError } from '../../base/errors/rule-error.js'
import { isOperationName, operationForms } from '../../base/primitives/did-operation.js'
import { didMethod } from '../../base/primitives/did-method.js'
import type { JsonValue } from '../../base/primitives/strict-json.js'
import { parseDraftJson } from '../../identity/did/draft-json.js'
import { parseLibraryDocument } from '../../identity/did/library-document.js'
import type { Members } from './payload.js'

/** A draft of controllers, as files of `didledger did name` hold it: read to be shown, nothing here signs. */
export type ShownDraft = { readonly operation: string; readonly document: Members } | { readonly fault: string }

/** A DID that a draft is for, as the page knows it. */
interface Standing {
  readonly did: string
  readonly exists: boolean
  /** Its last operation, where that is known. */
  readonly last: string | undefined
}

/** Reads the text of a draft for a DID; undefined for an empty text. */
export function shownDraft(text: string, standing: Standing): ShownDraft | undefined {
  if (text.trim() === '') return undefined
  try {
    return draftIn(text, standing)
  } catch (error) {
    if (error instanceof RuleError) return { fault: error.message }
    throw error
  }
}

function draftIn(text: string, { did, exists, last }: Standing): ShownDraft {
  const object = parseDraftJson(text)
  const member = (name: string): JsonValue | undefined => (object instanceof Map ? object.get(name) : undefined)
  const [operation, previous, given] = [member('operation'), member('previousTxid'), member('document')]
  if (typeof operation !== 'string' || given === undefined) {
    return { fault: 'This is no draft, which is an object with operation and document.' }
  }
  const { id, signingText } = parseLibraryDocument(given, { method: didMethod, chain: false })
  if (id !== did) return { fault: `This is a draft of ${id}.` }
  if (!isOperationName(operation)) return { fault: 'This is no draft: its operation is none of a DID.' }
  const isFirst = operationForms[operation].after.some((effect) => effect === 'nothing')
  if (exists && isFirst) return { fault: `${did} exists already: no controller can ${operation} it.` }
  if (!exists && !isFirst) return { fault: `${did} does not exist: there is nothing to ${operation}.` }
  if (last !== undefined && previous !== undefined && previous !== last) {
    return { fault: 'The draft follows another operation than the last one of this DID: it has to be begun again.' }
  }
  return { operation, document: JSON.parse(signingText) as Members }
}
