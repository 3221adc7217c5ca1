import type { TSchema } from '@sinclair/typebox'

/** How generated pages show links, types and values. */

/** Maximum characters of a text; longer ones are cut. */
export const longest = 200

/** Link to a heading of the same page, by the anchor that code hosts make of it. */
export function linkTo(heading: string, shown: string): string {
  const anchor = heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')
  return `[${shown}](#${anchor})`
}

/** A row of a table. */
export function tableRow(...cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

/** The type of a parameter or result in words. */
export function typeText(schema: TSchema): string {
  const { type, const: constant, enum: values, anyOf, items, minimum, maximum } = schema as Record<string, unknown>
  if (Array.isArray(anyOf)) return (anyOf as TSchema[]).map(typeText).join(' or ')
  if (Array.isArray(values)) return values.map((value) => `\`${JSON.stringify(value)}\``).join(', ')
  if (constant !== undefined) return `\`${JSON.stringify(constant)}\``
  if (type === 'array') return `array of ${typeText(items as TSchema)}`
  if (type !== 'integer') return String(type)
  const unbounded = maximum === undefined || maximum === Number.MAX_SAFE_INTEGER
  return `integer from ${String(minimum ?? 'any')}${unbounded ? '' : ` to ${String(maximum)}`}`
}

/** The value with its long texts cut. */
export function cut(value: unknown): unknown {
  if (typeof value === 'string' && value.length > longest) return `${value.slice(0, 60)}… (${value.length} characters)`
  if (Array.isArray(value)) return value.map(cut)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, cut(member)]))
}
