import ts from 'typescript'

/** One small change of a source text. */
export interface Mutant {
  /** Path from the root of the repository. */
  readonly file: string
  /** Number of the first changed line, from 1. */
  readonly line: number
  readonly kind: MutantKind
  /** Place of the expression that is replaced. */
  readonly start: number
  readonly end: number
  /** The expression in its place. */
  readonly replacement: string
  /** Whether a module evaluates it once, when it is loaded: outside of all functions. */
  readonly once: boolean
  /** Why no test can see it, where the code itself says so. */
  readonly unseen?: string
  /** The changed line before and after, without indentation: the name of the mutant, wherever the line moves. */
  readonly was: string
  readonly becomes: string
}

export type MutantKind = 'comparison' | 'off by one' | 'condition' | 'bound' | 'negation' | 'statement'

/** An expression and another in its place. `shown` is the part that the name of the mutant tells of, and what stands for it. */
interface Change {
  readonly kind: MutantKind
  readonly node: ts.Expression
  readonly replacement: string
  readonly shown?: readonly [node: ts.Node, replacement: string]
}

/** All mutants of one file, in the order of the text. Changes of types, texts and log lines are none. */
export function mutantsOf(file: string, text: string): Mutant[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const mutants: Mutant[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isTemplateSpan(node) || isLogged(node)) return
    for (const change of changesOf(node)) mutants.push(mutantAt(source, change))
    ts.forEachChild(node, visit)
  }
  visit(source)
  return mutants.sort((a, b) => a.start - b.start || a.end - b.end)
}

function mutantAt(source: ts.SourceFile, { kind, node, replacement, shown = [node, replacement] }: Change): Mutant {
  const { text, fileName: file } = source
  const [start, end] = [shown[0].getStart(), shown[0].getEnd()]
  const from = text.lastIndexOf('\n', start - 1) + 1
  const after = text.indexOf('\n', end)
  const to = after < 0 ? text.length : after
  const was = flat(text.slice(from, to))
  const becomes = flat(text.slice(from, start) + shown[1] + text.slice(end, to))
  const line = source.getLineAndCharacterOfPosition(start).line + 1
  const place = { start: node.getStart(), end: node.getEnd() }
  const unseen = unseenBy(node)
  const rest = { replacement, once: !isInFunction(node), was, becomes }
  return { file, line, kind, ...place, ...rest, ...(unseen !== undefined && { unseen }) }
}

function unseenBy(node: ts.Node): string | undefined {
  for (let one = node; one !== undefined; one = one.parent) {
    if (ts.isIfStatement(one) && onlyGivesWay(one)) return 'it changes how often a loop gives way'
    if (ts.isFunctionLike(one)) return undefined
    if (ts.isCallExpression(one) && one.expression.getText() === 'wholeNumber')
      return "the range of an operator's own option"
    const isTagged = ts.isVariableStatement(one) || ts.isPropertyAssignment(one)
    if (isTagged && ts.getJSDocTags(one).some(({ tagName }) => tagName.text === 'tuning')) {
      return "a value of the node's own, by its tag @tuning"
    }
  }
  return undefined
}

function onlyGivesWay({ thenStatement, elseStatement }: ts.IfStatement): boolean {
  return elseStatement === undefined && /^(await \w+\.next\(\)|yield);?$/.test(thenStatement.getText())
}

function isInFunction(node: ts.Node): boolean {
  const within = ts.findAncestor(node, (one) => ts.isFunctionLike(one) || isFieldOfInstances(one))
  return within !== undefined
}

function isFieldOfInstances(node: ts.Node): boolean {
  if (!ts.isPropertyDeclaration(node)) return false
  return !node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.StaticKeyword)
}

/** A text on one line, without indentation. */
export function flat(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

function changesOf(node: ts.Node): Change[] {
  if (ts.isBinaryExpression(node)) return ofBinary(node)
  if (ts.isNumericLiteral(node) || ts.isBigIntLiteral(node)) return ofNumber(node)
  if (ts.isIfStatement(node)) return ofCondition(node.expression)
  if (ts.isWhileStatement(node)) return [{ kind: 'condition', node: node.expression, replacement: 'false' }]
  if (ts.isConditionalExpression(node)) return ofCondition(node.condition)
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
    return [{ kind: 'negation', node, replacement: node.operand.getText() }]
  }
  if (ts.isExpressionStatement(node)) return ofStatement(node)
  if (ts.isCallExpression(node)) return ofBound(node)
  return []
}

function ofCondition(node: ts.Expression): Change[] {
  return ['true', 'false'].map((replacement) => ({ kind: 'condition', node, replacement }))
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
  if (compared !== undefined) {
    const replacement = `${left.getText()} ${compared} ${right.getText()}`
    return [{ kind: 'comparison', node, replacement, shown: [operatorToken, compared] }]
  }
  if (operator === '&&' || operator === '||') {
    return [left, right].map((side) => ({ kind: 'condition', node, replacement: `(${side.getText()})` }))
  }
  return isStep(node) ? [{ kind: 'off by one', node, replacement: `(${left.getText()})` }] : []
}

/** One more, and one less unless it is 0. Fractions and names of members are no bounds. */
function ofNumber(node: ts.NumericLiteral | ts.BigIntLiteral): Change[] {
  const { parent } = node
  const [, digits = '', suffix = ''] = /^(\w+?)(n?)$/.exec(node.getText().replaceAll('_', '')) ?? []
  if (!/^(0x[0-9a-f]+|\d+)$/i.test(digits) || isName(node, parent)) return []
  // `x + 1` without the 1 is a mutant of its own.
  if (ts.isBinaryExpression(parent) && isStep(parent) && parent.right === node) return []
  const value = BigInt(digits)
  const changed = value === 0n ? [value + 1n] : [value + 1n, value - 1n]
  return changed.map((other) => ({ kind: 'off by one', node, replacement: `${other}${suffix}` }))
}

function isName(node: ts.Node, parent: ts.Node): boolean {
  if (ts.isBindingElement(parent)) return parent.propertyName === node
  return (ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent)) && parent.name === node
}

function isStep({ operatorToken, right }: ts.BinaryExpression): boolean {
  return /^[+-]$/.test(operatorToken.getText()) && /^1n?$/.test(right.getText())
}

/** A call, an assignment or a deletion that is left out. */
function ofStatement(node: ts.ExpressionStatement): Change[] {
  let { expression } = node
  while (ts.isAwaitExpression(expression) || ts.isVoidExpression(expression)) expression = expression.expression
  if (/^super\(/.test(expression.getText())) return []
  return [{ kind: 'statement', node: node.expression, replacement: 'undefined', shown: [node, ';'] }]
}

/** `Math.max(a, b)` and `Math.min(a, b)`: either without the other. */
function ofBound(node: ts.CallExpression): Change[] {
  const [one, other] = node.arguments
  if (!/^Math\.(max|min)$/.test(node.expression.getText()) || one === undefined || other === undefined) return []
  if (node.arguments.length > 2 || ts.isSpreadElement(one) || ts.isSpreadElement(other)) return []
  return [one, other].map((side) => ({ kind: 'bound', node, replacement: `(${side.getText()})` }))
}

/** Whether a node only writes a log line or says what is wrong: its text and numbers are for people. */
function isLogged(node: ts.Node): boolean {
  if (!ts.isExpressionStatement(node)) return false
  return /^(this\.)?#?(\w+\.)*#?log(\.\w+)?\(/.test(node.expression.getText())
}
