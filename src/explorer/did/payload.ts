import { documentJsonLimits } from '../../identity/did/document.js'
import { parseLibraryDocument } from '../../identity/did/library-document.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { didMethod } from '../../base/primitives/did-method.js'
import { effectOf } from '../../base/primitives/did-operation.js'
import { parseStrictJson } from '../../base/primitives/strict-json.js'
import type { Operation } from '../ask/shapes.js'

/** Content of the payload of an operation. Nothing here fails: what cannot be read is shown as it is. */

export type Members = Readonly<Record<string, unknown>>

/** The text of a payload in base64url; undefined for other text, such as the DID of a deactivate. */
export function payloadText(payload: string): string | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(payload)) return undefined
  try {
    const binary = atob(payload.replaceAll('-', '+').replaceAll('_', '/'))
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** The JSON object of a payload in base64url, as it is written there. */
export function payloadObject(payload: string): Members | undefined {
  const text = payloadText(payload)
  if (text === undefined) return undefined
  try {
    return asMembers(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** The document of an operation that has one, in the normalised form, where every id and default is written out. */
export function documentOf({ header, payload }: Operation): Members | undefined {
  if (effectOf(header) !== 'document') return undefined
  const raw = payloadObject(payload)
  return raw === undefined ? undefined : normalised(raw, payloadText(payload) ?? '')
}

/** The normalised form with the proof as it stands; the document itself where it cannot be read by the rules. */
function normalised(raw: Members, text: string): Members {
  try {
    const rules = { method: didMethod, chain: false, trusted: true } as const
    const { signingText } = parseLibraryDocument(parseStrictJson(text, documentJsonLimits), rules)
    return { ...(JSON.parse(signingText) as Members), ...('proof' in raw ? { proof: raw['proof'] } : {}) }
  } catch (error) {
    if (error instanceof RuleError) return raw
    throw error
  }
}

export function asMembers(value: unknown): Members | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : undefined
}

/** A member that is a text; undefined for anything else. */
export function textIn(members: Members, name: string): string | undefined {
  const value = members[name]
  return typeof value === 'string' ? value : undefined
}

/** The objects in a member that is a list. */
export function objectsIn(members: Members, name: string): Members[] {
  const value = members[name]
  if (!Array.isArray(value)) return []
  return value.map(asMembers).filter((entry) => entry !== undefined)
}

/** The texts in a member that is a list, or a text alone. */
export function textsIn(members: Members, name: string): string[] {
  const value = members[name]
  return [value].flat().filter((entry) => typeof entry === 'string')
}
