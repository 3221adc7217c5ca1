import { Value } from '@sinclair/typebox/value'
import { UserError } from '../../base/errors/rule-error.js'
import type { Option } from '../../base/runtime/option.js'

/** Whether a value is valid for an option. */
export function isValid(option: Option, value: unknown): boolean {
  return Value.Check(option.schema, value) && (option.check?.(value as NonNullable<unknown>) ?? true)
}

/** Refuses a value that is not valid for an option; `place` is where it stands. */
export function requireValid(option: Option, value: unknown, place: string): void {
  if (!isValid(option, value)) {
    const hint = hintOf(option, value)
    throw new UserError(`${place}: ${option.key} is not ${option.expects}: ${shown(value)}${hint}`, 2)
  }
}

/** The end of the refusal of a value; empty where the option has no {@link Option.hint} for it. */
export function hintOf(option: Option, value: unknown): string {
  return Value.Check(option.schema, value) ? (option.hint?.(value as NonNullable<unknown>) ?? '') : ''
}

function shown(value: unknown): string {
  // A URL may have a password, and what is refused may go into a log.
  const unsaid = (_: string, part: unknown) => (typeof part === 'string' ? part.replace(/:.*@/s, ':…@') : part)
  // JSON5 has numbers that JSON would show as null.
  return (typeof value === 'number' ? String(value) : (JSON.stringify(value, unsaid) ?? String(value))).slice(0, 100)
}

/**
 * The value of a text from the command line or the environment, lists separated by commas, blanks around which mean nothing, or as the option says. A text that does not fit the option's
 * type is returned as it is, and is not valid.
 */
export function fromText({ schema, separator = /,/ }: Option, text: string): unknown {
  if (schema.type === 'integer') return /^-?(0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : text
  if (schema.type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  if (schema.type === 'array')
    return text
      .trim()
      .split(separator)
      .map((part) => part.trim())
  return text
}

/** The most similar name, also if only its section is missing (`portBase`, `DIDLEDGER_PORT_BASE`); undefined if none is similar. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  const [, first = '', rest] = /^([A-Z]+)(_[A-Z0-9_]+)$/.exec(name) ?? []
  const isWhole = (candidate: string) =>
    rest === undefined ? candidate.endsWith(`.${name}`) : candidate.startsWith(`${first}_`) && candidate.endsWith(rest)
  // Of DIDLEDGER_API_HOST and DIDLEDGER_API_METRICS_HOST the one that lacks nothing else.
  let [best] = names.filter(isWhole).sort((a, b) => a.length - b.length)
  if (best !== undefined) return best
  let least = Math.max(1, Math.floor(name.length / 3)) + 1
  for (const candidate of names) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance < least) [best, least] = [candidate, distance]
  }
  return best
}

/** Levenshtein distance: letters to insert, delete or replace. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1))
    }
    row = next
  }
  return row[b.length] as number
}
