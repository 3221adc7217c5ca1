import ts from 'typescript'

/** One small change of a source text. */
export interface Mutant {
  /** Path from the root of the repository. */
  readonly file: string
  /** Number of the first changed line, from 1. */
  readonly line: number
  readonly kind: MutantKind
  /** Place of the text that is replaced. */
  readonly start: number
  readonly end: number
  readonly replacement: string
  /** The changed line before and after, without indentation: the name of the mutant, wherever the line moves. */
  readonly was: string
  readonly becomes: string
}

export type MutantKind = 'comparison' | 'off by one' | 'condition' | 'bound' | 'negation' | 'statement'

type Change = readonly [kind: MutantKind, node: ts.Node, replacement: string]

/** All mutants of one file, in the order of the text. Changes of types, texts and log lines are none. */
export function mutantsOf(file: string, text: string): Mutant[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const mutants: Mutant[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || isLogged(node)) return
    for (const change of changesOf(node)) mutants.push(mutantAt(source, change))
    ts.forEachChild(node, visit)
  }
  visit(source)
  return mutants.sort((a, b) => a.start - b.start || a.end - b.end)
}

/** The text of a file with a mutant. */
export function mutated(text: string, { start, end, replacement }: Mutant): string {
  return text.slice(0, start) + replacement + text.slice(end)
}

function mutantAt(source: ts.SourceFile, [kind, node, replacement]: Change): Mutant {
  const { text, fileName: file } = source
  const [start, end] = [node.getStart(), node.getEnd()]
  const from = text.lastIndexOf('\n', start - 1) + 1
  const after = text.indexOf('\n', end)
  const to = after < 0 ? text.length : after
  const was = flat(text.slice(from, to))
  const becomes = flat(text.slice(from, start) + replacement + text.slice(end, to))
  const line = source.getLineAndCharacterOfPosition(start).line + 1
  return { file, line, kind, start, end, replacement, was, becomes }
}

/** A text on one line, without indentation. */
export function flat(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

function changesOf(node: ts.Node): Change[] {
  if (ts.isBinaryExpression(node)) return ofBinary(node)
  if (ts.isNumericLiteral(node) || ts.isBigIntLiteral(node)) return ofNumber(node)
  if (ts.isIfStatement(node)) return (['true', 'false'] as const).map((value) => ['condition', node.expression, value])
  if (ts.isWhileStatement(node)) return [['condition', node.expression, 'false']]
  if (ts.isConditionalExpression(node)) {
    return (['true', 'false'] as const).map((value) => ['condition', node.condition, value])
  }
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
    return [['negation', node, node.operand.getText()]]
  }
  if (ts.isExpressionStatement(node)) return ofStatement(node)
  if (ts.isCallExpression(node)) return ofBound(node)
  return []
}

const comparisons: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
}

function ofBinary(node: ts.BinaryExpression): Change[] {
  const { left, right, operatorToken } = node
  const operator = operatorToken.getText()
  const compared = comparisons[operator]
  if (compared !== undefined) return [['comparison', operatorToken, compared]]
  if (operator === '&&' || operator === '||') {
    return [left, right].map((side) => ['condition', node, `(${side.getText()})`])
  }
  return isStep(node) ? [['off by one', node, `(${left.getText()})`]] : []
}

/** One more, and one less unless it is 0. Fractions and names of members are no bounds. */
function ofNumber(node: ts.NumericLiteral | ts.BigIntLiteral): Change[] {
  const { parent } = node
  const [, digits = '', suffix = ''] = /^(\w+?)(n?)$/.exec(node.getText().replaceAll('_', '')) ?? []
  if (!/^(0x[0-9a-f]+|\d+)$/i.test(digits) || (ts.isPropertyAssignment(parent) && parent.name === node)) return []
  // `x + 1` without the 1 is a mutant of its own.
  if (ts.isBinaryExpression(parent) && isStep(parent) && parent.right === node) return []
  const value = BigInt(digits)
  const changed = value === 0n ? [value + 1n] : [value + 1n, value - 1n]
  return changed.map((other) => ['off by one', node, `${other}${suffix}`])
}

function isStep({ operatorToken, right }: ts.BinaryExpression): boolean {
  return /^[+-]$/.test(operatorToken.getText()) && /^1n?$/.test(right.getText())
}

/** A call, an assignment or a deletion that is left out. */
function ofStatement(node: ts.ExpressionStatement): Change[] {
  let { expression } = node
  while (ts.isAwaitExpression(expression) || ts.isVoidExpression(expression)) expression = expression.expression
  if (/^super\(/.test(expression.getText())) return []
  return [['statement', node, ';']]
}

/** `Math.max(a, b)` and `Math.min(a, b)`: either without the other. */
function ofBound(node: ts.CallExpression): Change[] {
  const [one, other] = node.arguments
  if (!/^Math\.(max|min)$/.test(node.expression.getText()) || one === undefined || other === undefined) return []
  if (node.arguments.length > 2 || ts.isSpreadElement(one) || ts.isSpreadElement(other)) return []
  return [one, other].map((side) => ['bound', node, `(${side.getText()})`])
}

/** Whether a node only writes a log line or says what is wrong: its text and numbers are for people. */
function isLogged(node: ts.Node): boolean {
  if (!ts.isExpressionStatement(node)) return false
  return /^(this\.)?#?(\w+\.)*#?log(\.\w+)?\(/.test(node.expression.getText())
}
