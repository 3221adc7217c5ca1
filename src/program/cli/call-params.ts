import type { RpcParams } from '../../clients/client/rpc.js'
import { UserError } from '../../base/errors/rule-error.js'

/**
 * Parameters of a call from the words of a command: one JSON object or array, `key=value` words, or values in the order of the
 * method. A value that is JSON is taken as such, and as text otherwise.
 */
export function callParams(words: readonly string[]): RpcParams {
  const [first = ''] = words
  if (words.length === 1 && /^\s*[[{]/.test(first)) return wholeOf(first)
  const pairs = words.map((word) => /^([A-Za-z_]\w*)=(.*)$/s.exec(word))
  if (pairs.every((pair) => pair === null)) return words.map(valueOf)
  const given = new Map<string, unknown>()
  for (const [i, pair] of pairs.entries()) {
    if (pair === null) throw new UserError(`${words[i]}: parameters are either all of the form key=value, or none`, 2)
    const [, key = '', value = ''] = pair
    if (given.has(key)) throw new UserError(`${key} is given twice`, 2)
    given.set(key, valueOf(value))
  }
  return Object.fromEntries(given)
}

function wholeOf(text: string): RpcParams {
  try {
    return JSON.parse(text) as RpcParams
  } catch (error) {
    throw new UserError(`the parameters are not JSON: ${(error as Error).message}`, 2)
  }
}

/** The JSON in a text, or the text. A number is one only where nothing of it is lost: a hash of digits alone stays text. */
function valueOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'number' && String(value) !== text ? text : value
  } catch {
    return text
  }
}
