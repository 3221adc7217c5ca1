import { UserError } from '../errors/rule-error.js'

/** Milliseconds that a timer can count. */
export const longestTimer = 2 ** 31 - 1

/** A number that a program gave, checked: types may have been ignored. A {@link UserError} names it. */
export function requireWhole(name: string, value: number, [least, most]: readonly [number, number]): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value
  throw new UserError(`${name}: ${String(value)} is not a whole number from ${least} to ${most}`)
}

/** An object that a program gave; a {@link UserError} with the message for anything else. */
export function requireObject<T extends object>(message: string, value: T): T {
  if (typeof value === 'object' && value !== null) return value
  throw new UserError(message)
}

/** Refuses what is no option: it would otherwise come out only as something that is not done. */
export function requireKnown(where: string, given: object, known: readonly string[]): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name))
  if (unknown !== undefined) throw new UserError(`${unknown} is no option of ${where}; there are ${known.join(', ')}`)
}
