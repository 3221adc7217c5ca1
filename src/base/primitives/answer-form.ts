import { UserError } from '../errors/rule-error.js'
import { parseAmount } from './amount.js'
import { defined } from './defined.js'
import { isObject } from './is-object.js'

/** Reads a part of an answer, which `where` names; a {@link UserError} if its form differs from the interface. */
export type Reader<T> = (value: unknown, where: string) => T

/** How each member of an object is read. */
type Members<T> = { readonly [K in keyof T]: Reader<T[K]> }

/** The error for a part of an answer whose form differs from the interface. */
export function unexpected(where: string): UserError {
  return new UserError(`the node answered something unexpected: ${where}`)
}

/** A part of any form. */
export function asAny(value: unknown): unknown {
  return value
}

export function asInteger(value: unknown, where: string): number {
  if (Number.isSafeInteger(value)) return value as number
  throw unexpected(`${where} is not an integer`)
}

export function asText(value: unknown, where: string): string {
  if (typeof value === 'string') return value
  throw unexpected(`${where} is not a string`)
}

/** An amount of coins in units of 10^-8. */
export function asAmount(value: unknown, where: string): bigint {
  const amount = parseAmount(asText(value, where))
  if (amount === undefined) throw unexpected(`${where} is no amount`)
  return amount
}

export function listOf<T>(read: Reader<T>): Reader<readonly T[]> {
  return (value, where) => {
    if (!Array.isArray(value)) throw unexpected(`${where} is not an array`)
    return value.map((entry, i) => read(entry, `${where}[${i}]`))
  }
}

/** A member that may be absent. */
export function optional<T>(read: Reader<T>): Reader<T | undefined> {
  return (value, where) => (value === undefined ? undefined : read(value, where))
}

/** An object with these members, in their order, and without others. */
export function objectOf<T extends object>(members: Members<T>): Reader<Readonly<T>> {
  return (value, where) => readMembers(value, members, where, `${where}.`)
}

/** A whole answer of this form; messages have the `name` of the answer where it is no object. */
export function answerOf<T extends object>(name: string, members: Members<T>): (value: unknown) => Readonly<T> {
  return (value) => readMembers(value, members, name, '')
}

function readMembers<T extends object>(value: unknown, members: Members<T>, name: string, prefix: string): T {
  if (!isObject(value)) throw unexpected(`${name} is not an object`)
  const read = Object.entries<Reader<unknown>>(members).map(([key, as]) => [key, as(value[key], prefix + key)])
  return defined(Object.fromEntries(read) as T) as T
}
