import { RuleError } from '../../errors.js'
import { isObject } from './core.js'

/** The parameters of a method by name. */
export type NamedParams = ReadonlyMap<string, unknown>

/** Parameters that have to come as an object. */
export function named(params: unknown): NamedParams {
  if (isObject(params)) return new Map(Object.entries(params))
  throw new RuleError('request-parameter', 'params: an object is needed')
}

/** Parameters as an object, or as an array in the order of `names`; none at all are no parameters. */
export function namedOrListed(params: unknown, names: readonly string[]): NamedParams {
  if (params === undefined || params === null) return new Map()
  if (!Array.isArray(params)) return named(params)
  if (params.length > names.length) {
    throw new RuleError('request-parameter', `params: ${params.length} given, at most ${names.length} are taken`)
  }
  return new Map(params.map((value: unknown, i) => [names[i] as string, value]))
}

export function textParam(params: NamedParams, name: string): string {
  const value = params.get(name)
  if (typeof value === 'string') return value
  throw new RuleError('request-parameter', `${name}: missing or not a string`)
}

/** A boolean; without a default it has to be there. */
export function booleanParam(params: NamedParams, name: string, whenAbsent?: boolean): boolean {
  const value = params.has(name) ? params.get(name) : whenAbsent
  if (typeof value === 'boolean') return value
  throw new RuleError('request-parameter', `${name}: missing or neither true nor false`)
}

/** A safe integer; without a default it has to be there. The method says which are too small or too large. */
export function integerParam(params: NamedParams, name: string, whenAbsent?: number): number {
  const value = params.has(name) ? params.get(name) : whenAbsent
  if (Number.isSafeInteger(value)) return value as number
  throw new RuleError('request-parameter', `${name}: missing or not an integer`)
}
