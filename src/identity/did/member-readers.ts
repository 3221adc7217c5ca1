import { RuleError } from '../../base/errors/rule-error.js'
import { capitalsFault, nameRule } from '../../base/primitives/did-name.js'
import type { JsonObject, JsonValue } from '../../base/primitives/strict-json.js'
import { decodeSignature } from './base64url.js'
import { parseDate } from './date.js'
import { absoluteId, didPart, type IdRules, isDid } from './identifier.js'
import { signatureType } from './model.js'

/** Readers of single members. `where` is the path to the object, for the error's text ('' is the document itself). */

const ascii = /^[\x01-\x7f]+$/

export function path(where: string, name: string): string {
  return where === '' ? name : `${where}.${name}`
}

export function asObject(value: JsonValue, where: string): JsonObject {
  if (value instanceof Map) return value
  throw new RuleError('document-form', `${where || 'the document'} is not an object`)
}

/** Refuses members that are not among `known`: no signature would cover them. */
export function refuseUnknown(object: JsonObject, known: ReadonlySet<string>, where: string): void {
  for (const name of object.keys()) {
    if (!known.has(name)) throw new RuleError('document-member', `${path(where, name)} is a member that does not exist`)
  }
}

export function optionalText(object: JsonObject, name: string, where: string): string | undefined {
  const value = object.get(name)
  if (value === undefined || typeof value === 'string') return value
  throw new RuleError('document-form', `${path(where, name)} is not a string`)
}

export function requiredText(object: JsonObject, name: string, where: string): string {
  return optionalText(object, name, where) ?? missing(name, where)
}

function missing(name: string, where: string): never {
  throw new RuleError('document-form', `${path(where, name)} is missing`)
}

/** The elements of a list member; none when it is absent. */
export function list(object: JsonObject, name: string, where: string): readonly JsonValue[] {
  const value = object.get(name)
  if (value === undefined) return []
  if (Array.isArray(value)) return value
  throw new RuleError('document-form', `${path(where, name)} is not an array`)
}

export function textList(object: JsonObject, name: string, where: string): readonly string[] {
  return list(object, name, where).map((value, index) => {
    if (typeof value === 'string') return value
    throw new RuleError('document-form', `${path(where, name)}[${index}] is not a string`)
  })
}

/** The text of a type: ASCII, at least one character. */
export function typeText(text: string, where: string): string {
  if (ascii.test(text)) return text
  throw new RuleError('document-text', `${where} is empty or not ASCII`)
}

export function optionalDate(object: JsonObject, name: string, where: string): string | undefined {
  const text = optionalText(object, name, where)
  if (text !== undefined && parseDate(text) === undefined) {
    throw new RuleError('document-date', `${path(where, name)} is no date of the form YYYY-MM-DDTHH:MM:SSZ`)
  }
  return text
}

export function requiredDate(object: JsonObject, name: string, where: string): string {
  return optionalDate(object, name, where) ?? missing(name, where)
}

export function didText(text: string, where: string, rules: IdRules): string {
  if (isDid(text, rules)) return text
  throw new RuleError(
    'document-did',
    `${where} is not a valid did:${rules.method}: identifier (form, length or checksum)${nameFault(text, rules)}: ${text.slice(0, 80)}`,
  )
}

/** Says of a text that is no DID by these rules whether a name would be one. */
function nameFault(text: string, rules: IdRules): string {
  if (rules.names === true) {
    const capitals = capitalsFault(text.slice(text.lastIndexOf(':') + 1))
    return `, nor a name (${nameRule}${capitals && `; ${capitals}`})`
  }
  return rules.names === false && isDid(text, { ...rules, names: true }) ? '; a name is not taken here' : ''
}

/** The absolute form of an id that has to be a fragment of `did`. */
export function ownId(object: JsonObject, where: string, rules: IdRules, did: string): string {
  const text = requiredText(object, 'id', where)
  const id = absoluteId(text, did, rules)
  if (id !== undefined && didPart(id) === did) return id
  throw new RuleError('document-id', `${path(where, 'id')} is no fragment of ${did}: ${text.slice(0, 200)}`)
}

/** Checks `type`, which may be absent and has one value otherwise. */
export function requireSignatureType(object: JsonObject, where: string): void {
  const type = optionalText(object, 'type', where)
  if (type !== undefined && type !== signatureType) {
    throw new RuleError('document-form', `${path(where, 'type')} is not ${signatureType}`)
  }
}

/** A signature member as text and as its 64 bytes. */
export function signatureMember(
  object: JsonObject,
  name: string,
  where: string,
): { readonly signatureText: string; readonly signature: Uint8Array } {
  const signatureText = requiredText(object, name, where)
  const signature = decodeSignature(signatureText)
  if (signature !== undefined) return { signatureText, signature }
  throw new RuleError('did-signature-form', `${path(where, name)} is not 86 characters of base64url with zero end bits`)
}
