import { RuleError } from '../../base/errors/rule-error.js'

export { below } from '../../base/primitives/plain-data.js'

/** Characters of a path that a refusal shows. */
const longestPath = 200

/** The error for an invalid condition; `where` is the path to the faulty part, '' for the whole. */
export function refusal(where: string, what: string): RuleError {
  const shown = where.length > longestPath ? `${where.slice(0, longestPath)}…` : where
  return new RuleError('query-invalid', `${shown || 'the condition'}: ${what}`)
}

/** Quotes a name or text for an error message, and cuts a long one. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
}
