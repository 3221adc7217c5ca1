import { UserError } from '../errors/rule-error.js'
import { isObject } from './is-object.js'

/** Refuses unknown names of members: a misspelt one would otherwise be ignored silently. */
export function requireKnown(where: string, given: object, known: readonly string[]): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name))
  if (unknown !== undefined) throw new UserError(`${unknown} is no option of ${where}; there are ${known.join(', ')}`)
}

/** {@link requireKnown} of options that may be no object at all. */
export function requireOptions(where: string, given: unknown, known: readonly string[]): asserts given is object {
  if (!isObject(given)) throw new UserError(`${where} needs an object with ${known.join(', ')}`)
  requireKnown(where, given, known)
}

/** The words of a refusal, and whether a value has the form. */
export type MemberCheck = readonly [words: string, fits: (value: unknown) => boolean]

/** Forms of what a caller gives. */
const forms = {
  text: ['a text', (value: unknown) => typeof value === 'string'],
  flag: ['true or false', (value: unknown) => typeof value === 'boolean'],
  whole: ['a whole number from 0 on', (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0],
  list: ['a list', Array.isArray],
  object: ['an object', isObject],
  key: ['a key, as bytes, text or JWK,', (value: unknown) => typeof value === 'string' || isObject(value)],
  json: ['JSON, as text or object,', (value: unknown) => typeof value === 'string' || isObject(value)],
  account: [
    'an account with its keys',
    (value: unknown) =>
      isObject(value) && [value['publicKey'], value['privateKey']].every((key) => key instanceof Uint8Array),
  ],
  any: ['a value', () => true],
} as const satisfies Readonly<Record<string, MemberCheck>>

export type Form = keyof typeof forms

/**
 * Checks an object from a caller that may have ignored types: it has no other members than these, each in its form, and those of
 * `required`. A {@link UserError} names the member.
 */
export function requireMembers(
  where: string,
  given: unknown,
  members: Readonly<Record<string, Form>>,
  required: readonly string[] = [],
): void {
  requireOptions(where, given, Object.keys(members))
  for (const [name, form] of Object.entries(members)) {
    requireMember(where, given, name, { check: forms[form], needed: required.includes(name) })
  }
}

/** Checks one member. */
export function requireMember(
  where: string,
  given: object,
  name: string,
  { check: [words, fits], needed }: { readonly check: MemberCheck; readonly needed: boolean },
): void {
  const value = (given as Readonly<Record<string, unknown>>)[name]
  if (value === undefined ? needed : !fits(value)) throw new UserError(`${name} of ${where}: ${words} is needed`)
}
