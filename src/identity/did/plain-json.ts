import { RuleError } from '../../base/errors/rule-error.js'
import { copyPlain, type PlainRules } from '../../base/primitives/plain-data.js'
import { type JsonLimits, type JsonObject, type JsonValue, parseStrictJson } from '../../base/primitives/strict-json.js'
import { documentJsonLimits } from './document.js'

const plainRules: PlainRules = {
  depth: documentJsonLimits.depth,
  values: documentJsonLimits.tokens,
  // As the strict parser: above 2^53 readers differ in what an integer is.
  numberFault: (value) =>
    Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value))
      ? undefined
      : `${value} is no number that every reader of JSON takes alike`,
  refuse: (where, fault) => new RuleError('json-syntax', where === '' ? fault : `${where}: ${fault}`),
}

/**
 * Strict JSON from the input of a library's caller, JSON text or plain objects, with every string and name in Unicode form NFC,
 * which the tools of the family sign. Throws a {@link RuleError} with a `json-…` code, or the error of JSON.stringify for values
 * without JSON form.
 */
export function fromPlain(input: unknown): JsonValue {
  const text = typeof input === 'string' ? input : JSON.stringify(input)
  if (text === undefined) throw new RuleError('json-syntax', `there is no JSON form of ${typeof input}`)
  return normalized(parseStrictJson(text, documentJsonLimits))
}

/**
 * Refuses values to be signed that JSON.stringify would drop or change; `path` leads to the whole. Throws a {@link RuleError} that names the
 * path to one.
 */
export function requirePlain(value: unknown, path: string): void {
  copyPlain(value, plainRules, path)
}

/** The value of JSON text that is to be signed. Throws a {@link RuleError} unless every reader takes the text for the same value. */
export function strictValue(text: string, limits: JsonLimits = documentJsonLimits): unknown {
  parseStrictJson(text, limits)
  return JSON.parse(text)
}

function normalized(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.normalize('NFC')
  if (Array.isArray(value)) return value.map(normalized)
  if (!(value instanceof Map)) return value
  const object: JsonObject = new Map()
  for (const [name, member] of value) object.set(name.normalize('NFC'), normalized(member))
  if (object.size === value.size) return object
  throw new RuleError('json-duplicate-name', 'two names of one object are the same text after Unicode normalisation')
}
