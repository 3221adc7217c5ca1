import ts from 'typescript'

/** The same declarations without comments, a line each, with spaces between words alone and without the semicolon before a brace. */
export function shortDeclarations(text: string): string {
  const source = ts.createSourceFile('declarations.d.ts', text, ts.ScriptTarget.ES2022, true)
  const declared = source.statements.filter((one) => !ts.isImportDeclaration(one) && !ts.isExportDeclaration(one))
  const tokens = declared.map((one) => tokensOf(one, source))
  const lines = [...ports(source, new Set(tokens.flat())), ...tokens.map((some) => some.reduce(joined, ''))]
  return withNames(`${lines.join('\n')}\n`)
}

function tokensOf(node: ts.Node, source: ts.SourceFile): string[] {
  const parts = node.getChildren(source).filter(({ kind }) => kind !== ts.SyntaxKind.JSDoc)
  return parts.length === 0 ? [node.getText(source)] : parts.flatMap((part) => tokensOf(part, source))
}

function joined(text: string, token: string): string {
  if (token === '}') return text.replace(/;$/, '') + token
  return /[\w$]$/.test(text) && /^[\w$#]/.test(token) ? `${text} ${token}` : text + token
}

type PortName = ts.ImportSpecifier | ts.ExportSpecifier

/** Imports and exports of a file whose declarations have these words. A name that is only passed on stands once, in `export{Name}from"./chunk.js"`. */
function ports({ statements }: ts.SourceFile, words: ReadonlySet<string>): string[] {
  const own = statements.filter((one) => ts.isInterfaceDeclaration(one) || ts.isTypeAliasDeclaration(one))
  const types = new Set(own.map(({ name }) => name.text))
  const lines: string[] = []
  let left = statements.filter(ts.isExportDeclaration).flatMap(({ exportClause }) => namesIn(exportClause))
  for (const { importClause, moduleSpecifier } of statements.filter(ts.isImportDeclaration)) {
    const names = namesIn(importClause?.namedBindings)
    const kept = names.filter(({ name, propertyName }) => words.has(name.text) || propertyName !== undefined)
    const others = new Set(names.filter((one) => !kept.includes(one)).map(plainName))
    const passed = left.filter((one) => others.has(plainName(one)))
    left = left.filter((one) => !passed.includes(one))
    const from = `from${moduleSpecifier.getText()}`
    lines.push(port('import', kept, from, types), port('export', passed, from, types))
  }
  return [...lines, port('export', left, '', types)].filter((line) => line !== '')
}

function namesIn(list: ts.NamedImportBindings | ts.NamedExportBindings | undefined): readonly PortName[] {
  return list !== undefined && (ts.isNamedImports(list) || ts.isNamedExports(list)) ? list.elements : []
}

function plainName({ name, propertyName }: PortName): string {
  return (propertyName ?? name).text
}

function port(word: string, names: readonly PortName[], from: string, types: ReadonlySet<string>): string {
  const texts = names.map((one) => {
    const [plain, given] = [plainName(one), one.name.text]
    return `${one.isTypeOnly && !types.has(plain) ? 'type ' : ''}${plain}${given === plain ? '' : ` as ${given}`}`
  })
  return texts.length === 0 ? '' : `${word}{${texts.join(',')}}${from};`
}

/** The names of codes in place of a table of texts that has them as members. */
function withNames(text: string): string {
  return text.replace(/^declare const texts:\{(.*)\};\ntype Code=keyof typeof texts;$/m, (_, members: string) => {
    const names = members.split(';').map((member) => member.replace(/:string$/, '').replace(/['"]/g, ''))
    return `type Code=${names.map((name) => `"${name}"`).join('|')};`
  })
}
