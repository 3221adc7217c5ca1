import { posix } from 'node:path'
import ts from 'typescript'

/** Reads the values of constants from syntax trees: most are not exported, and their modules would start workers. */

/** The files of a program by path below `src`. */
export type Sources = ReadonlyMap<string, ts.SourceFile>

const operators: Partial<Record<ts.SyntaxKind, (left: number, right: number) => number>> = {
  [ts.SyntaxKind.PlusToken]: (left, right) => left + right,
  [ts.SyntaxKind.MinusToken]: (left, right) => left - right,
  [ts.SyntaxKind.AsteriskToken]: (left, right) => left * right,
  [ts.SyntaxKind.SlashToken]: (left, right) => left / right,
  [ts.SyntaxKind.AsteriskAsteriskToken]: (left, right) => left ** right,
}

/** Parses files, given as texts by path below `src`. */
export function parsed(texts: ReadonlyMap<string, string>): Sources {
  return new Map(
    [...texts].map(([path, text]) => [path, ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)]),
  )
}

/** The number that an expression of literals, arithmetic and constants stands for; undefined for any other expression. */
export function numberOf(expression: ts.Expression, sources: Sources): number | undefined {
  const bare = unwrapped(expression)
  if (ts.isNumericLiteral(bare)) return Number(bare.text)
  if (ts.isBigIntLiteral(bare)) return Number(bare.text.slice(0, -1))
  if (ts.isBinaryExpression(bare)) {
    const [left, right] = [numberOf(bare.left, sources), numberOf(bare.right, sources)]
    return left === undefined || right === undefined ? undefined : operators[bare.operatorToken.kind]?.(left, right)
  }
  const definition = definitionOf(bare, sources)
  return definition === undefined ? undefined : numberOf(definition, sources)
}

/** The members of an object literal that are written out, by name; undefined for any other expression. */
export function membersOf(expression: ts.Expression): readonly ts.PropertyAssignment[] | undefined {
  const bare = unwrapped(expression)
  return ts.isObjectLiteralExpression(bare) ? bare.properties.filter(ts.isPropertyAssignment) : undefined
}

/** The expression without parentheses, `as const` and the like. */
function unwrapped(expression: ts.Expression): ts.Expression {
  const wraps = ts.isParenthesizedExpression(expression) || ts.isAsExpression(expression)
  return wraps || ts.isSatisfiesExpression(expression) ? unwrapped(expression.expression) : expression
}

/** Returns the definition of a name, or of a member of an object with a name. */
function definitionOf(expression: ts.Expression, sources: Sources): ts.Expression | undefined {
  if (ts.isIdentifier(expression)) return constantOf(expression.text, expression.getSourceFile(), sources)
  if (!ts.isPropertyAccessExpression(expression)) return undefined
  const object = definitionOf(expression.expression, sources)
  const members = object === undefined ? undefined : membersOf(object)
  return members?.find(({ name }) => name.getText() === expression.name.text)?.initializer
}

/** The initializer of a constant of a file, or of one that the file imports. */
function constantOf(name: string, file: ts.SourceFile, sources: Sources): ts.Expression | undefined {
  for (const statement of file.statements) {
    if (ts.isVariableStatement(statement)) {
      const found = statement.declarationList.declarations.find((declaration) => declaration.name.getText() === name)
      if (found !== undefined) return found.initializer
    } else if (ts.isImportDeclaration(statement)) {
      const bindings = statement.importClause?.namedBindings
      const imported =
        bindings && ts.isNamedImports(bindings) && bindings.elements.find((one) => one.name.text === name)
      const source = sources.get(importedPath(file, statement))
      if (imported && source) return constantOf((imported.propertyName ?? imported.name).text, source, sources)
    }
  }
  return undefined
}

function importedPath(file: ts.SourceFile, { moduleSpecifier }: ts.ImportDeclaration): string {
  const named = ts.isStringLiteral(moduleSpecifier) ? moduleSpecifier.text : ''
  return posix.join(posix.dirname(file.fileName), named).replace(/\.js$/, '.ts')
}
