import ts from 'typescript'

/**
 * The same declarations without comments, a line each, with spaces between words alone and without the semicolon before a brace or at an
 * end. One that is exported says so itself, where that is shorter than its name in a list.
 */
export function shortDeclarations(text: string): string {
  const source = ts.createSourceFile('declarations.d.ts', text, ts.ScriptTarget.ES2022, true)
  const declared = source.statements.filter((one) => !ts.isImportDeclaration(one) && !ts.isExportDeclaration(one))
  const tokens = declared.map((one) => tokensOf(one, source))
  const listed = exportsOf(source).filter(({ propertyName }) => propertyName === undefined)
  const names = new Set(listed.map(plainName))
  const exported = tokens.filter((some) => names.has(nameIn(some)) && isShorterAlone(some))
  const lines = tokens.map((some) => (exported.includes(some) ? withExport(some) : some).reduce(joined, ''))
  const all = [...ports(source, new Set(tokens.flat()), new Set(exported.map(nameIn))), ...lines]
  return withNames(`${all.map((line) => line.replace(/;$/, '')).join('\n')}\n`)
}

const modifier = 'declare'

function nameIn(tokens: readonly string[]): string {
  return tokens[tokens[0] === modifier ? 2 : 1] ?? ''
}

/** Whether the word `export` takes less than a name in a list of exports: it replaces another word, or the name is longer. */
function isShorterAlone(tokens: readonly string[]): boolean {
  return tokens[0] === modifier || nameIn(tokens).length >= 'export '.length
}

function withExport(tokens: readonly string[]): string[] {
  return ['export', ...(tokens[0] === modifier ? tokens.slice(1) : tokens)]
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

/**
 * Imports and exports of a file whose declarations have these words, but for names that are exported by their declarations. A name that is
 * only passed on stands once, in `export{Name}from"./chunk.js"`.
 */
function ports(source: ts.SourceFile, words: ReadonlySet<string>, exported: ReadonlySet<string>): string[] {
  const { statements } = source
  const own = statements.filter((one) => ts.isInterfaceDeclaration(one) || ts.isTypeAliasDeclaration(one))
  const types = new Set(own.map(({ name }) => name.text))
  const lines: string[] = []
  let left = exportsOf(source).filter((one) => one.propertyName !== undefined || !exported.has(plainName(one)))
  for (const { importClause, moduleSpecifier } of statements.filter(ts.isImportDeclaration)) {
    const names = namesIn(importClause?.namedBindings)
    const kept = names.filter(({ name, propertyName }) => words.has(name.text) || propertyName !== undefined)
    const others = new Set(names.filter((one) => !kept.includes(one)).map(plainName))
    const passed = left.filter((one) => others.has(plainName(one)))
    left = left.filter((one) => !passed.includes(one))
    const from = `from${moduleSpecifier.getText()}`
    lines.push(port('import', kept, from, types), port('export', passed, from, types))
  }
  lines.push(port('export', left, '', types))
  // Without a list, every declaration of a file would be exported.
  if (!lines.some((line) => line.startsWith('export'))) lines.push('export{}')
  return lines.filter((line) => line !== '')
}

function exportsOf({ statements }: ts.SourceFile): PortName[] {
  return statements.filter(ts.isExportDeclaration).flatMap(({ exportClause }) => namesIn(exportClause))
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
  return text.replace(/^declare const texts:\{(.*)\}\ntype Code=keyof typeof texts$/m, (_, members: string) => {
    const names = members.split(';').map((member) => member.replace(/:string$/, '').replace(/['"]/g, ''))
    return `type Code=${names.map((name) => `"${name}"`).join('|')}`
  })
}
