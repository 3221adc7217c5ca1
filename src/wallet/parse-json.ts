import { UserError } from '../errors/rule-error.js'

/** JSON text as a value; a {@link UserError} that begins with `what` for anything else. */
export function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UserError(`${what} is not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}
