import { RuleError } from '../errors/rule-error.js'

const longestPlace = 200

/** The error for a condition that is not valid; `where` is the path to the part that is wrong, '' for the whole. */
export function refusal(where: string, what: string): RuleError {
  const place = where.length > longestPlace ? `${where.slice(0, longestPlace)}…` : where
  return new RuleError('query-invalid', `${place || 'the condition'}: ${what}`)
}

/** The path to a member. */
export function below(where: string, name: string): string {
  return where === '' ? name : `${where}.${name}`
}

/** A name or text in an error message: quoted, and cut where it is long. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
}
