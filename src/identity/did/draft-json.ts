import { type JsonValue, parseStrictJson } from '../../base/primitives/strict-json.js'
import { documentJsonLimits } from './document.js'

/** Reads the JSON of a draft of controllers: an object around a document, one level deeper than that. Throws a RuleError. */
export function parseDraftJson(text: string): JsonValue {
  const { depth, tokens } = documentJsonLimits
  return parseStrictJson(text, { depth: depth + 1, tokens: tokens + 100 })
}
