import type { JsonObject, JsonValue } from './strict-json.js'

/** Bounds of plain data, and its refusals. */
export interface PlainRules {
  /** Deepest nesting of objects and arrays; the outermost is depth 1. */
  readonly depth: number
  /** Values of every kind. */
  readonly values: number
  /** The fault of a number; undefined for one that is taken. */
  readonly numberFault: (value: number) => string | undefined
  /** The error for the value at a path such as `a.b[0]`; the path is empty for the whole. */
  readonly refuse: (where: string, fault: string) => Error
}

/** Copies plain data into Maps. Throws for values without JSON form, which JSON.stringify drops or changes. Recursion ends at the depth limit. */
export function copyPlain(whole: unknown, rules: PlainRules, path = ''): JsonValue {
  let values = 0
  return copy(whole, 1, path)

  function copy(value: unknown, depth: number, where: string): JsonValue {
    if (++values > rules.values) throw rules.refuse('', `more than ${rules.values} values`)
    if (value === null || typeof value === 'boolean' || typeof value === 'string') return value
    if (typeof value === 'number') {
      const fault = rules.numberFault(value)
      if (fault === undefined) return value
      throw rules.refuse(where, fault)
    }
    if (depth > rules.depth) throw rules.refuse('', `nested deeper than ${rules.depth} levels`)
    if (Array.isArray(value)) {
      // A loop, for map would leave the holes of a sparse array.
      const list: JsonValue[] = []
      for (let i = 0; i < value.length; i++) list.push(copy(value[i], depth + 1, `${where}[${i}]`))
      return list
    }
    if (!isPlainObject(value)) throw rules.refuse(where, `there is no JSON form of this ${typeof value}`)
    const object: JsonObject = new Map()
    for (const name of Object.keys(value)) object.set(name, copy(value[name], depth + 1, below(where, name)))
    return object
  }
}

/** The path to a member. */
export function below(where: string, name: string): string {
  return where === '' ? name : `${where}.${name}`
}

/** Whether a value is a plain object: not a Date, a Map, or an instance of another class. */
function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
