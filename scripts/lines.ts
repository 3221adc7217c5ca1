import { readdirSync, readFileSync } from 'node:fs'
import ts from 'typescript'

/** npm run lines: lines of code of `src`, by wing, and of `scripts`, without blank lines and comments. */

const folders = [...readdirSync('src').map((name) => `src/${name}`), 'scripts']
const counts = folders.map((folder) => ({
  folder,
  lines: filesIn(folder).reduce((sum, file) => sum + linesOf(file), 0),
}))
for (const { folder, lines } of counts) console.log(`${folder.padEnd(16)} ${shown(lines)}`)
console.log(`${'in all'.padEnd(16)} ${shown(counts.reduce((sum, { lines }) => sum + lines, 0))}`)

function shown(lines: number): string {
  return lines.toLocaleString('en').padStart(7)
}

function filesIn(path: string): string[] {
  if (/\.(tsx?|mjs|cjs|js)$/.test(path)) return [path]
  if (/\.\w+$/.test(path)) return []
  return readdirSync(path).flatMap((name) => filesIn(`${path}/${name}`))
}

/** Lines on which a token begins, or of a template goes through. */
function linesOf(file: string): number {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, false)
  const lines = new Set<number>()
  const visit = (node: ts.Node): void => {
    if (ts.isJSDoc(node)) return
    const children = node.getChildren(source)
    if (children.length > 0) return children.forEach(visit)
    if (node.getWidth(source) === 0) return
    const [first, last] = [node.getStart(source), node.getEnd()].map(
      (at) => source.getLineAndCharacterOfPosition(at).line,
    )
    for (let line = first as number; line <= (last as number); line++) lines.add(line)
  }
  visit(source)
  return lines.size
}
