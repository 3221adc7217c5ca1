import { canonicalJson, type JsonObject, type JsonValue } from '../../base/primitives/strict-json.js'
import { json5Name, json5Tokens, parseJson5 } from '../../base/runtime/json5.js'
import { below, quoted, refusal } from './query-error.js'

/** Limits of a condition. */
export const conditionLimits = {
  /** @limit bytes: text of a search condition in UTF-8 */
  bytes: 16 * 1024,
  /** @limit levels: nesting of a search condition, the outermost object being 1 */
  depth: 16,
  /** @limit count: values of every kind in a search condition */
  nodes: 256,
}

/**
 * Reads a condition, JSON or JSON5 text or an object, into Maps of its own. Throws `query-invalid` for text that is neither, for
 * anything but an object, above {@link conditionLimits}, for values without JSON form and for repeated names.
 */
export function readCondition(input: string | object): JsonObject {
  const value = typeof input === 'string' ? parse(input) : input
  const condition = new Copy().value(value, 1, '')
  if (!(condition instanceof Map)) throw refusal('', 'not an object such as {"service":{"type":"T"}}')
  if (typeof input === 'string') refuseRepeatedNames(input)
  else refuseLong(canonicalJson(condition))
  return condition
}

function parse(text: string): unknown {
  refuseLong(text)
  try {
    return parseJson5(text)
  } catch (error) {
    throw refusal('', `neither JSON nor JSON5 (${(error as Error).message})`)
  }
}

/** Throws `query-invalid` for text that is longer than a condition may be. */
export function refuseLong(text: string): void {
  const { bytes } = conditionLimits
  if (text.length <= bytes && Buffer.byteLength(text) <= bytes) return
  throw refusal('', `longer than ${bytes} bytes`)
}

/** Copies plain data. Recursion ends at the depth limit. */
class Copy {
  #nodes = 0

  value(value: unknown, depth: number, where: string): JsonValue {
    if (++this.#nodes > conditionLimits.nodes) throw refusal('', `more than ${conditionLimits.nodes} values`)
    if (value === null || typeof value === 'boolean' || typeof value === 'string') return value
    if (typeof value === 'number') {
      if (Number.isFinite(value)) return value
      throw refusal(where, 'only finite numbers can be compared')
    }
    if (depth > conditionLimits.depth) throw refusal('', `nested deeper than ${conditionLimits.depth} levels`)
    if (Array.isArray(value)) {
      const copy: JsonValue[] = []
      for (let i = 0; i < value.length; i++) copy.push(this.value(value[i], depth + 1, `${where}[${i}]`))
      return copy
    }
    if (!isPlain(value)) throw refusal(where, `there is no JSON form of this ${typeof value}`)
    const copy: JsonObject = new Map()
    for (const name of Object.keys(value)) copy.set(name, this.value(value[name], depth + 1, below(where, name)))
    return copy
  }
}

/** Whether a value is a plain object: not a Date, a Map, or an instance of another class. */
function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/**
 * Refuses a name that stands twice in one object: the parser would silently keep the last. The text is valid JSON5, so a colon
 * outside of strings and comments always follows a name.
 */
function refuseRepeatedNames(text: string): void {
  const objects: Set<string>[] = []
  let last = ''
  for (const { text: token, index } of json5Tokens(text)) {
    if (token === '{') objects.push(new Set())
    if (token === '}') objects.pop()
    if (token === ':') {
      const name = json5Name(last)
      const names = objects.at(-1)
      if (names?.has(name)) throw refusal('', `the name ${quoted(name)} stands twice in one object (before ${index})`)
      names?.add(name)
    }
    last = token
  }
}
