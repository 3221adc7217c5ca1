/**
 * A value as plain JSON-like data to compare: byte strings of any class become `hex:…`, bigints `…n`, class instances
 * plain objects of their own members without a private cache or an undefined one.
 */
export function plainForm(value: unknown): unknown {
  if (value instanceof Uint8Array) return `hex:${Buffer.from(value).toString('hex')}`
  if (typeof value === 'bigint') return `${value}n`
  if (Array.isArray(value)) return value.map(plainForm)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, member]) => member !== undefined && !name.startsWith('cached'))
      .map(([name, member]) => [name, plainForm(member)]),
  )
}
