import { UserError } from '../errors/rule-error.js'

/** Refuses unknown names of members: a misspelt one would otherwise be ignored silently. */
export function requireKnown(where: string, given: object, known: readonly string[]): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name))
  if (unknown !== undefined) throw new UserError(`${unknown} is no option of ${where}; there are ${known.join(', ')}`)
}
