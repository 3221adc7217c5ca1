import { readFileSync } from 'node:fs'
import type { TSchema } from '@sinclair/typebox'

/** How generated pages are made, and how they show links, types and values. */

/** Maximum characters of a text; longer ones are cut. */
export const longest = 200

/** Text of scripts/docs/pages with generated lines in the place of each `{{name}}`. */
export function filled(page: string, parts: Readonly<Record<string, string | readonly string[]>>): string {
  const text = readFileSync(new URL(`./pages/${page}`, import.meta.url), 'utf8')
  return text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const part = parts[name]
    if (part === undefined) throw new Error(`scripts/docs/pages/${page} has a place for ${name}, which is not made`)
    return typeof part === 'string' ? part : part.join('\n')
  })
}

/** Link to a heading of the same page, by the anchor that code hosts make of it. */
export function linkTo(heading: string, shown: string): string {
  const anchor = heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')
  return `[${shown}](#${anchor})`
}

/** A row of a table. */
export function tableRow(...cells: readonly (string | number)[]): string {
  return `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`
}

/** A text in the type of code. */
export function code(text: string): string {
  return `\`${text}\``
}

/** Lines of a block of JSON, with an empty one after it. */
export function jsonBlock(value: unknown): readonly string[] {
  return ['```json', JSON.stringify(cut(value), null, 2), '```', '']
}

/** The type of a parameter or result in words. */
export function typeText(schema: TSchema): string {
  const { type, const: constant, enum: values, anyOf, items, minimum, maximum } = schema as Record<string, unknown>
  if (Array.isArray(anyOf)) return (anyOf as TSchema[]).map(typeText).join(' or ')
  if (Array.isArray(values)) return values.map((value) => code(JSON.stringify(value))).join(', ')
  if (constant !== undefined) return code(JSON.stringify(constant))
  if (type === 'array') return `array of ${typeText(items as TSchema)}`
  if (type !== 'integer') return String(type ?? 'any')
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

/** A count with commas between thousands. */
export function grouped(count: number): string {
  return count.toLocaleString('en-US')
}
