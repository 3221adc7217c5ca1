import type { JsonObject, JsonValue } from '../../base/primitives/strict-json.js'
import { textPart } from './text-part.js'

/** Text that JSON writes as it is, between quotes. */
const plainText = /^[ !#-[\]-~]+$/

/**
 * Texts that occur in the canonical JSON of every document that a valid condition matches. A search looks for them in the bytes of a
 * document before it parses it. Empty: nothing is sure.
 */
export function neededTexts(condition: JsonObject): readonly string[] {
  return [...new Set(textsOf(condition))].filter((text) => plainText.test(text))
}

/** Texts of a condition, or of the condition on a value. */
function textsOf(condition: JsonValue): readonly string[] {
  if (typeof condition === 'string') return [condition]
  if (Array.isArray(condition)) return condition.flatMap(textsOf)
  if (!(condition instanceof Map)) return []
  return [...condition].flatMap(([name, operand]) => {
    return name.startsWith('$') ? textsOfOperator(name, operand, condition) : textsOf(operand)
  })
}

/** Alternatives, negations and all that is not named here need no text. */
function textsOfOperator(name: string, operand: JsonValue, siblings: JsonObject): readonly string[] {
  switch (name) {
    case '$and':
    case '$all':
    case '$elemMatch':
      return textsOf(operand)
    case '$eq':
      return typeof operand === 'string' ? [operand] : []
    case '$regex':
      return typeof operand === 'string' && !siblings.has('$options') ? [textPart(operand, '').text] : []
    default:
      return []
  }
}
