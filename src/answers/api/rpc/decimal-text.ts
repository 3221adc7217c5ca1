import type { TSchema } from '@sinclair/typebox'

const decimal = /^(0|[1-9][0-9]*)$/

/**
 * A value with the decimal texts read that stand where a schema has an integer, in its lists and objects too. The schema refuses
 * what is out of its range, also beyond 2^53. Of alternatives the first list or object counts for a list or an object.
 */
export function withIntegers(value: unknown, schema: TSchema): unknown {
  if (typeof value === 'string') {
    return schema['type'] === 'integer' && decimal.test(value) ? Number(value) : value
  }
  if (typeof value !== 'object' || value === null) return value
  const type = Array.isArray(value) ? 'array' : 'object'
  const found = alternatives(schema).find((one) => one['type'] === type)
  if (Array.isArray(value)) {
    const list: readonly unknown[] = value
    const items = found?.['items'] as TSchema | undefined
    return items === undefined ? list : list.map((item) => withIntegers(item, items))
  }
  const known = (found?.['properties'] ?? {}) as Readonly<Record<string, TSchema>>
  const members = Object.entries(value).map(([name, member]: [string, unknown]) => {
    return [name, Object.hasOwn(known, name) ? withIntegers(member, known[name] as TSchema) : member]
  })
  return Object.fromEntries(members)
}

function alternatives(schema: TSchema): readonly TSchema[] {
  return (schema['anyOf'] as readonly TSchema[] | undefined) ?? [schema]
}
