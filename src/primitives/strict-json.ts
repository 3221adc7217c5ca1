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
  return new Reader(text, limits).document()
}

function refusal(code: Extract<Code, `json-${string}`>, at: number, what: string): RuleError {
  return new RuleError(code, `${what} at character ${at + 1}`)
}

/** One pass over one text. Recursion is bounded by the depth limit. */
class Reader {
  private position = 0
  private tokens = 0

  constructor(
    private readonly text: string,
    private readonly limits: JsonLimits,
  ) {}

  document(): JsonValue {
    const value = this.value(1)
    this.skipSpace()
    if (this.position < this.text.length) throw this.unexpected('the end')
    return value
  }

  private value(depth: number): JsonValue {
    this.skipSpace()
    this.countToken()
    switch (this.text.charCodeAt(this.position)) {
      case 0x7b:
        return this.object(depth)
      case 0x5b:
        return this.array(depth)
      case 0x22:
        return this.string()
      default:
        return this.scalar()
    }
  }

  private object(depth: number): JsonObject {
    this.enter(depth)
    const object: JsonObject = new Map()
    if (this.take(0x7d)) return object
    for (;;) {
      this.skipSpace()
      const start = this.position
      if (this.text.charCodeAt(start) !== 0x22) throw this.unexpected('a name in quotes')
      this.countToken()
      const name = this.string()
      if (refusedNames.has(name)) throw refusal('json-name', start, `the name ${name}`)
      if (object.has(name)) throw refusal('json-duplicate-name', start, `the name ${JSON.stringify(name)} again`)
      if (!this.take(0x3a)) throw this.unexpected('a colon')
      object.set(name, this.value(depth + 1))
      if (this.take(0x7d)) return object
      if (!this.take(0x2c)) throw this.unexpected('a comma or }')
    }
  }

  private array(depth: number): JsonValue[] {
    this.enter(depth)
    const array: JsonValue[] = []
    if (this.take(0x5d)) return array
    for (;;) {
      array.push(this.value(depth + 1))
      if (this.take(0x5d)) return array
      if (!this.take(0x2c)) throw this.unexpected('a comma or ]')
    }
  }

  private enter(depth: number): void {
    if (depth > this.limits.depth) {
      throw refusal('json-depth', this.position, `nesting deeper than ${this.limits.depth}`)
    }
    this.position++
  }

  private scalar(): JsonValue {
    for (const [word, value] of literals) {
      if (this.text.startsWith(word, this.position)) {
        this.position += word.length
        return value
      }
    }
    numberToken.lastIndex = this.position
    const token = numberToken.exec(this.text)?.[0]
    if (token === undefined) throw this.unexpected('a value')
    const value = Number(token)
    // Equality with the shortest form also restricts the token to JSON's number grammar.
    if (String(value) !== token || (Number.isInteger(value) && !Number.isSafeInteger(value))) {
      throw refusal('json-number', this.position, `the number ${token.slice(0, 40)}, which is not in canonical form,`)
    }
    this.position += token.length
    return value
  }

  /** The string whose opening quote is at the current position. */
  private string(): string {
    const { text } = this
    let result = ''
    let start = ++this.position
    for (;;) {
      const unit = text.charCodeAt(this.position)
      if (unit === 0x22) {
        result += text.slice(start, this.position++)
        return result
      }
      if (unit === 0x5c) {
        result += text.slice(start, this.position) + this.escape()
        start = this.position
      } else if (unit >= 0x20) {
        this.position++
      } else {
        // A control character, or NaN past the end.
        throw this.unexpected('more of the string')
      }
    }
  }

  private escape(): string {
    const start = this.position
    const letter = this.text.charAt(start + 1)
    const simple = simpleEscapes[letter]
    if (simple !== undefined) {
      this.position += 2
      return simple
    }
    const unit = this.unicodeEscape()
    if (unit === 0) throw refusal('json-text', start, 'U+0000')
    if (unit < 0xd800 || unit > 0xdfff) return String.fromCharCode(unit)
    if (unit >= 0xdc00 || !this.text.startsWith('\\u', this.position)) {
      throw refusal('json-text', start, 'a lone surrogate')
    }
    const low = this.unicodeEscape()
    if (low < 0xdc00 || low > 0xdfff) throw refusal('json-text', start, 'a lone surrogate')
    return String.fromCharCode(unit, low)
  }

  private unicodeEscape(): number {
    const digits = this.text.slice(this.position + 2, this.position + 6)
    if (this.text.charAt(this.position + 1) !== 'u' || !/^[0-9a-fA-F]{4}$/.test(digits)) {
      throw this.unexpected('an escape that JSON has')
    }
    this.position += 6
    return parseInt(digits, 16)
  }

  private countToken(): void {
    if (++this.tokens > this.limits.tokens) {
      throw refusal('json-tokens', this.position, `more than ${this.limits.tokens} tokens`)
    }
  }

  /** Skips white space; if `unit` follows, steps over it. */
  private take(unit: number): boolean {
    this.skipSpace()
    if (this.text.charCodeAt(this.position) !== unit) return false
    this.position++
    return true
  }

  private skipSpace(): void {
    for (;;) {
      const unit = this.text.charCodeAt(this.position)
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return
      this.position++
    }
  }

  private unexpected(expected: string): RuleError {
    const found = this.text.codePointAt(this.position)
    const what = found === undefined ? 'the end of the text' : JSON.stringify(String.fromCodePoint(found))
    return refusal('json-syntax', this.position, `expected ${expected}, found ${what}`)
  }
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
