import { RuleError } from '../../base/errors/rule-error.js'
import { canonicalJson, type JsonObject, type JsonValue } from '../../base/primitives/strict-json.js'
import { path } from './member-readers.js'
import type { Endpoint } from './model.js'
import { isUri } from './uri.js'

/** Endpoints of services, as DID Core 5.4 has them, and the other names of a DID. */

/** @limit count: endpoints in the list of a service */
const mostEndpoints = 32
/** @limit characters: another name of a DID */
const longestName = 1024

const name = 'serviceEndpoint'
/** Reads the endpoint of a service: a text, an object with members, or a list of different ones of these. */
export function parseEndpoint(service: JsonObject, where: string): Endpoint {
  const value = service.get(name)
  if (value === undefined) throw new RuleError('document-form', `${path(where, name)} is missing`)
  if (typeof value === 'string') return value
  if (!Array.isArray(value)) return one(value, path(where, name)) as Endpoint
  if (value.length === 0 || value.length > mostEndpoints) {
    throw new RuleError(
      'document-form',
      `${path(where, name)} has ${value.length} endpoints, not 1 to ${mostEndpoints}`,
    )
  }
  const texts = value.map((entry, index) => canonicalJson(one(entry, `${path(where, name)}[${index}]`)))
  if (new Set(texts).size === texts.length) return value
  throw new RuleError('document-form', `${path(where, name)} has the same endpoint twice`)
}

function one(value: JsonValue, where: string): JsonValue {
  if (typeof value === 'string' || (value instanceof Map && value.size > 0)) return value
  throw new RuleError('document-form', `${where} is no string and no object with members`)
}

/** Reads `alsoKnownAs`: different absolute URIs, sorted. */
export function parseNames(texts: readonly string[]): readonly string[] {
  for (const [index, text] of texts.entries()) {
    if (text.length <= longestName && isUri(text)) continue
    throw new RuleError(
      'document-text',
      `alsoKnownAs[${index}] is no absolute URI of at most ${longestName} characters`,
    )
  }
  if (new Set(texts).size === texts.length) return [...texts].sort()
  throw new RuleError('document-duplicate-id', 'alsoKnownAs has the same name twice')
}
