import ts from 'typescript'
import { membersOf, numberOf, type Sources } from './constant-values.js'
import type { Limit } from './limit-tags.js'

/** Reads the rows `limit({ name, unit, value, … })` of test/limits, and compares them with the tags. */

/** A row of a bound with its two cases. */
interface Row {
  /** Path below the repository, and line. */
  readonly place: string
  readonly name: string
  readonly unit: string
  readonly value: number | undefined
}

/** All rows, in the order of files and lines. */
export function readRows(sources: Sources): Row[] {
  return [...sources].flatMap(([file, source]) =>
    callsOf(source).map((call) => {
      const members = (call.arguments[0] && membersOf(call.arguments[0])) ?? []
      const member = (name: string) => members.find((one) => one.name.getText() === name)?.initializer
      const text = (found: ts.Expression | undefined) => (found && ts.isStringLiteral(found) ? found.text : '')
      const value = member('value')
      const place = `test/limits/${file}:${source.getLineAndCharacterOfPosition(call.getStart()).line + 1}`
      return { place, name: text(member('name')), unit: text(member('unit')), value: value && numberOf(value, sources) }
    }),
  )
}

/** Differences between tags and rows: a bound without a row, a row without a bound, another value or unit, and a second row. */
export function rowFaults(limits: readonly Limit[], rows: readonly Row[]): string[] {
  const tags = new Map(limits.map((one) => [nameOf(one), one]))
  const named = new Set(rows.map(({ name }) => name))
  const missing = limits
    .filter((one) => !named.has(nameOf(one)))
    .map((one) => `src/${one.file}: ${one.name} has no row limit({ name: '${nameOf(one)}', … }) in test/limits`)
  const wrong = rows.flatMap((row, i) => {
    if (rows.findIndex(({ name }) => name === row.name) < i) return [`${row.place}: '${row.name}' has two rows`]
    return rowFault(row, tags.get(row.name)) ?? []
  })
  return [...missing, ...wrong]
}

/** The difference between a row and its tag, if any. */
function rowFault({ place, name, unit, value }: Row, tag: Limit | undefined): string | undefined {
  if (tag === undefined) return `${place}: '${name}' is no constant with a tag @limit`
  if (tag.value !== value) return `${place}: '${name}' is ${tag.value} in src, ${value} in the row`
  return tag.unit === unit ? undefined : `${place}: '${name}' has the unit ${tag.unit} in src, ${unit} in the row`
}

/** The name that the row of a bound has. */
function nameOf({ file, name }: Limit): string {
  return `${file.replace(/\.ts$/, '')}.${name}`
}

/** The calls `limit(…)` anywhere in a file. */
function callsOf(node: ts.Node): ts.CallExpression[] {
  const own = ts.isCallExpression(node) && node.expression.getText() === 'limit' ? [node] : []
  const inner: ts.CallExpression[] = []
  ts.forEachChild(node, (child) => void inner.push(...callsOf(child)))
  return [...own, ...inner]
}
