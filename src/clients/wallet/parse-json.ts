import { RuleError, UserError } from '../../base/errors/rule-error.js'
import { strictValue } from '../../identity/did/plain-json.js'

/** JSON text as a value; a {@link UserError} that begins with `what` for anything else. */
export function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UserError(`${what} is not JSON: ${placeOf(text, error)}`)
  }
}

/** {@link parseJson} of text that is to be signed: a {@link UserError} also where readers would not all take it for the same value. */
export function parseJsonToSign(text: string, what: string): unknown {
  parseJson(text, what)
  try {
    return strictValue(text)
  } catch (error) {
    throw error instanceof RuleError ? new UserError(`${what}: ${error.message}`) : error
  }
}

/** Describes the place where a text stops being JSON. */
function placeOf(text: string, error: unknown): string {
  if (text.trim() === '') return 'it is empty'
  const at = /at position (\d+)/.exec(String(error))?.[1]
  if (at === undefined) return `it begins with ${JSON.stringify(text.trimStart().slice(0, 20))}`
  const before = text.slice(0, Number(at)).split('\n')
  return `line ${before.length}, character ${(before.at(-1) as string).length + 1}`
}
