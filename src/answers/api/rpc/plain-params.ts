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
  if (!Array.isArray(params)) return textOf(names, (name) => memberOf(params, name))
  if (!listed || params.length > names.length) return undefined
  return textOf(names.slice(0, params.length), (_, i) => params[i] as unknown)
}

/** A member of its own; undefined, which JSON does not have, without it. */
function memberOf(params: object, name: string): unknown {
  return Object.hasOwn(params, name) ? (params as Readonly<Record<string, unknown>>)[name] : undefined
}

/** Names and values that are there, one behind the other. */
function textOf(names: readonly string[], valueOf: (name: string, i: number) => unknown): string | undefined {
  let text = ''
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string
    const value = valueOf(name, i)
    if (value === undefined) continue
    if (!isPlain(value) && !isPlainList(value)) return undefined
    text += ` ${name} ${JSON.stringify(value)}`
  }
  return text
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string'
    ? value.length <= longestQuestion
    : typeof value === 'boolean' || Number.isFinite(value)
}

function isPlainList(value: unknown): boolean {
  return Array.isArray(value) && value.length <= longestList && value.every(isPlain)
}
