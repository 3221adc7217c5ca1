import { copyPlain, type PlainRules } from '../../base/primitives/plain-data.js'
import { canonicalJson, type JsonObject } from '../../base/primitives/strict-json.js'
import { json5Name, json5Tokens, parseJson5 } from '../../base/runtime/json5.js'
import { quoted, refusal } from './query-error.js'

/** Limits of a condition. */
export const conditionLimits = {
  /** @limit bytes: text of a search condition in UTF-8 */
  bytes: 16 * 1024,
  /** @limit levels: nesting of a search condition, the outermost object being 1 */
  depth: 16,
  /** @limit count: values of every kind in a search condition */
  nodes: 256,
}

const plainRules: PlainRules = {
  depth: conditionLimits.depth,
  values: conditionLimits.nodes,
  numberFault: (value) => (Number.isFinite(value) ? undefined : 'only finite numbers can be compared'),
  refuse: refusal,
}

/**
 * Reads a condition, JSON or JSON5 text or an object, into Maps of its own. Throws `query-invalid` for text that is neither, for
 * anything but an object, above {@link conditionLimits}, for values without JSON form and for repeated names.
 */
export function readCondition(input: string | object): JsonObject {
  const value = typeof input === 'string' ? parse(input) : input
  const condition = copyPlain(value, plainRules)
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
