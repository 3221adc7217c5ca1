import { UserError } from '../../base/errors/rule-error.js'

/**
 * No timer of Node.js is longer.
 * @limit ms: time that a caller of the library may set
 */
export const longestTimer = 2 ** 31 - 1

/** Checks a number from a caller that may have ignored types. A {@link UserError} names it. */
export function requireWhole(name: string, value: number, [least, most]: readonly [number, number]): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value
  throw new UserError(`${name}: ${String(value)} is not a whole number from ${least} to ${most}`)
}

/** Checks a value from a caller unless it is absent. */
export function optional<T, Checked>(value: T | undefined, check: (value: T) => Checked): Checked | undefined {
  return value === undefined ? undefined : check(value)
}

/** Checks an object from a caller; a {@link UserError} with the message for anything else. */
export function requireObject<T extends object>(message: string, value: T): T {
  if (typeof value === 'object' && value !== null) return value
  throw new UserError(message)
}
