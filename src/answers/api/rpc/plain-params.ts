import { longestQuestion } from '../http/kept-answers.js'
import type { RpcMethod } from './method.js'

/** @tuning count: values of a list in parameters whose answer is kept */
const longestList = 100

/**
 * One text for equal parameters, by name or in a list, in whatever order, without members that the method does not have. Undefined for
 * values that no short text names exactly: objects, null, numbers beyond their range, long texts.
 */
export function plainParams(params: unknown, { params: schema, listed }: RpcMethod<never>): string | undefined {
  if (params === undefined || params === null) return ''
  const names = Object.keys(schema.properties)
  if (Array.isArray(params)) return listed && params.length <= names.length ? textOf(names, params) : undefined
  const given = names.filter((name) => Object.hasOwn(params, name))
  return textOf(
    given,
    given.map((name) => (params as Readonly<Record<string, unknown>>)[name]),
  )
}

function textOf(names: readonly string[], values: readonly unknown[]): string | undefined {
  if (!values.every((value) => isPlain(value) || isPlainList(value))) return undefined
  return values.map((value, i) => ` ${names[i]} ${JSON.stringify(value)}`).join('')
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string'
    ? value.length <= longestQuestion
    : typeof value === 'boolean' || Number.isFinite(value)
}

function isPlainList(value: unknown): boolean {
  return Array.isArray(value) && value.length <= longestList && value.every(isPlain)
}
