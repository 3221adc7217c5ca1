import ts from 'typescript'
import type { Mutant } from './points.js'

/** A mutant with its number, from 1. */
export interface Numbered extends Mutant {
  readonly id: number
}

/** Global function of the switched texts: notes that the place of a mutant is evaluated; true while that mutant is on. */
export const switchName = '__didledgerMutant'

/** The text of a file that holds all its mutants, each behind a switch: which one is on is decided while the program runs. */
export function switched(text: string, mutants: readonly Numbered[]): string {
  const places = new Map<string, Numbered[]>()
  for (const mutant of mutants) {
    const key = `${mutant.start} ${mutant.end}`
    places.set(key, [...(places.get(key) ?? []), mutant])
  }
  const inserted = [...places.values()].flatMap((some) => {
    const { start, end } = some[0] as Numbered
    const others = some.map(({ id, replacement }) => `${switchName}(${id}) ? (${replacement}) : `).join('')
    return [
      { at: start, order: end - start, text: `(${others}(` },
      { at: end, order: start - end, text: '))' },
    ]
  })
  const starts = statementStarts(text).map((at) => ({ at, order: Infinity, text: ';' }))
  // At one place, ends come before beginnings, inner ends before outer ones, and outer beginnings before inner ones.
  const rank = ({ order }: { readonly order: number }) => (order < 0 ? 0 : 1)
  inserted.push(...starts)
  inserted.sort((a, b) => a.at - b.at || rank(a) - rank(b) || compare(b.order, a.order))
  let result = ''
  let from = 0
  for (const { at, text: addition } of inserted) {
    result += text.slice(from, at) + addition
    from = at
  }
  return result + text.slice(from)
}

function compare(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1
}

/** Starts of statements that are one expression: without semicolons in between, a bracket in front continues the line before. */
function statementStarts(text: string): number[] {
  const starts: number[] = []
  const visit = (node: ts.Node): void => {
    const { parent } = node
    if (
      ts.isExpressionStatement(node) &&
      (ts.isBlock(parent) || ts.isSourceFile(parent) || ts.isCaseOrDefaultClause(parent))
    ) {
      starts.push(node.getStart())
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile('a.ts', text, ts.ScriptTarget.Latest, true))
  return starts
}
