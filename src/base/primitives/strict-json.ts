import type { Code } from '../errors/error-codes.js'
import { RuleError } from '../errors/rule-error.js'

/** A JSON value whose objects are Maps, so that no name can reach a prototype. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject
export type JsonObject = Map<string, JsonValue>

export interface JsonLimits {
  /** Deepest nesting of objects and arrays; the outermost is depth 1. */
  readonly depth: number
  /** Names, strings, numbers, literals and opening brackets together. */
  readonly tokens: number
}

const refusedNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])
/** A surrogate that is not half of a pair: UTF-8 has none. */
// With the u flag a surrogate that is half of a pair does not match.
export const loneSurrogate = /[\ud800-\udfff]/u
const numberToken = /[-+.0-9eE]+/y
const literals: readonly (readonly [string, JsonValue])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
]
const simpleEscapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

/**
 * Reads RFC 8259 text of the one form that every machine reads alike: no duplicate names, no lone surrogates, no U+0000, numbers
 * only in the RFC 8785 form of their double (integers up to 2^53 - 1), nothing before or after the value. Throws a {@link
 * RuleError} with a `json-…` code whose detail gives the position, counted in UTF-16 code units from 1.
 */
export function parseStrictJson(text: string, limits: JsonLimits): JsonValue {
  const lone = text.search(loneSurrogate)
  if (lone >= 0) throw refusal('json-text', lone, 'a lone surrogate')
  // One pass over the text, by functions that share its position. Recursion is bounded by the depth limit.
  let [position, tokens] = [0, 0]
  const whole = readValue(1)
  skipSpace()
  if (position < text.length) throw unexpected('the end')
  return whole

  function readValue(depth: number): JsonValue {
    skipSpace()
    countToken()
    switch (text.charCodeAt(position)) {
      case 0x7b:
        return readObject(depth)
      case 0x5b:
        return readArray(depth)
      case 0x22:
        return readString()
      default:
        return readScalar()
    }
  }

  function readObject(depth: number): JsonObject {
    enter(depth)
    const object: JsonObject = new Map()
    if (take(0x7d)) return object
    for (;;) {
      skipSpace()
      const start = position
      if (text.charCodeAt(start) !== 0x22) throw unexpected('a name in quotes')
      countToken()
      const name = readString()
      if (refusedNames.has(name)) throw refusal('json-name', start, `the name ${name}`)
      if (object.has(name)) throw refusal('json-duplicate-name', start, `the name ${JSON.stringify(name)} again`)
      if (!take(0x3a)) throw unexpected('a colon')
      object.set(name, readValue(depth + 1))
      if (take(0x7d)) return object
      if (!take(0x2c)) throw unexpected('a comma or }')
    }
  }

  function readArray(depth: number): JsonValue[] {
    enter(depth)
    const array: JsonValue[] = []
    if (take(0x5d)) return array
    for (;;) {
      array.push(readValue(depth + 1))
      if (take(0x5d)) return array
      if (!take(0x2c)) throw unexpected('a comma or ]')
    }
  }

  function enter(depth: number): void {
    if (depth > limits.depth) throw refusal('json-depth', position, `nesting deeper than ${limits.depth}`)
    position++
  }

  function readScalar(): JsonValue {
    for (const [word, value] of literals) {
      if (text.startsWith(word, position)) {
        position += word.length
        return value
      }
    }
    numberToken.lastIndex = position
    const token = numberToken.exec(text)?.[0]
    if (token === undefined) throw unexpected('a value')
    const value = Number(token)
    // Equality with the shortest form also restricts the token to JSON's number grammar.
    if (String(value) !== token || (Number.isInteger(value) && !Number.isSafeInteger(value))) {
      throw refusal('json-number', position, `the number ${token.slice(0, 40)}, which is not in canonical form,`)
    }
    position += token.length
    return value
  }

  /** The string whose opening quote is at the current position. */
  function readString(): string {
    let result = ''
    let start = ++position
    for (;;) {
      const unit = text.charCodeAt(position)
      if (unit === 0x22) {
        result += text.slice(start, position++)
        return result
      }
      if (unit === 0x5c) {
        result += text.slice(start, position) + readEscape()
        start = position
      } else if (unit >= 0x20) {
        position++
      } else {
        // A control character, or NaN past the end.
        throw unexpected('more of the string')
      }
    }
  }

  function readEscape(): string {
    const start = position
    const letter = text.charAt(start + 1)
    const simple = simpleEscapes[letter]
    if (simple !== undefined) {
      position += 2
      return simple
    }
    const unit = readUnicodeEscape()
    if (unit === 0) throw refusal('json-text', start, 'U+0000')
    if (unit < 0xd800 || unit > 0xdfff) return String.fromCharCode(unit)
    if (unit >= 0xdc00 || !text.startsWith('\\u', position)) {
      throw refusal('json-text', start, 'a lone surrogate')
    }
    const low = readUnicodeEscape()
    if (low < 0xdc00 || low > 0xdfff) throw refusal('json-text', start, 'a lone surrogate')
    return String.fromCharCode(unit, low)
  }

  function readUnicodeEscape(): number {
    const digits = text.slice(position + 2, position + 6)
    if (text.charAt(position + 1) !== 'u' || !/^[0-9a-fA-F]{4}$/.test(digits)) {
      throw unexpected('an escape that JSON has')
    }
    position += 6
    return parseInt(digits, 16)
  }

  function countToken(): void {
    if (++tokens > limits.tokens) throw refusal('json-tokens', position, `more than ${limits.tokens} tokens`)
  }

  /** Skips white space; if `unit` follows, steps over it. */
  function take(unit: number): boolean {
    skipSpace()
    if (text.charCodeAt(position) !== unit) return false
    position++
    return true
  }

  function skipSpace(): void {
    for (;;) {
      const unit = text.charCodeAt(position)
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return
      position++
    }
  }

  function unexpected(expected: string): RuleError {
    const found = text.codePointAt(position)
    const what = found === undefined ? 'the end of the text' : JSON.stringify(String.fromCodePoint(found))
    return refusal('json-syntax', position, `expected ${expected}, found ${what}`)
  }
}

function refusal(code: Extract<Code, `json-${string}`>, at: number, what: string): RuleError {
  return new RuleError(code, `${what} at character ${at + 1}`)
}

/**
 * The RFC 8785 text of a value: no white space, names in order of their UTF-16 code units, ECMAScript numbers; of the
 * strings only `"`, `\` and U+0000 to U+001F are escaped.
 */
export function canonicalJson(value: JsonValue): string {
  if (value instanceof Map) return `{${canonicalMembers(value)}}`
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  return JSON.stringify(value)
}

/** The members of an object between its braces in {@link canonicalJson}. */
export function canonicalMembers(object: JsonObject): string {
  return [...object.keys()]
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(object.get(name) as JsonValue)}`)
    .join(',')
}
