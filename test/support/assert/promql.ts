/** A reader of the part of PromQL that alerts and dashboards use, which throws at anything it does not understand. */

/** A metric in an expression, with the labels of its matchers. */
export interface Selector {
  readonly name: string
  readonly labels: readonly string[]
}

/** Names in an expression. */
export interface Expression {
  readonly selectors: readonly Selector[]
  /** Labels of `by` and `without`, `on` and `ignoring`. */
  readonly grouped: readonly string[]
}

const token =
  /\s*(?:([a-zA-Z_:][\w:]*)|((?:\d+(?:\.\d+)?(?:e\d+)?)(?![\w.]))|(\d+[smhdwy](?!\w))|("(?:[^"\\]|\\.)*")|(=~|!~|!=|==|>=|<=|[-+*/%^<>=(){}[\],]))/y
const functions: Readonly<Record<string, readonly [number, number]>> = {
  abs: [1, 1],
  changes: [1, 1],
  deriv: [1, 1],
  histogram_quantile: [2, 2],
  increase: [1, 1],
  max_over_time: [1, 1],
  rate: [1, 1],
  time: [0, 0],
}
const overRange = ['changes', 'deriv', 'increase', 'max_over_time', 'rate']
const aggregations: Readonly<Record<string, number>> = { sum: 1, max: 1, min: 1, avg: 1, count: 1, topk: 2, bottomk: 2 }
const operators = ['+', '-', '*', '/', '%', '^', '==', '!=', '<', '>', '<=', '>=', 'and', 'or', 'unless']

/** Returns the names in an expression; an Error describes its fault. */
export function parseQuery(text: string): Expression {
  return new QueryReader(text).read()
}

/**
 * Whether an alert on one metric alone fires at a value of it: the part between `or` that compares the metric, or its amount, with a
 * number. Undefined: no part of the expression does.
 */
export function firesAt(text: string, metric: string, value: number): boolean | undefined {
  const part = text.split(' or ').find((one) => new RegExp(`^(${metric}|abs\\(${metric}\\)) `).test(one))
  const [, operator, number] = /^\S+ (==|>|<) (-?[\d.e]+)$/.exec(part ?? '') ?? []
  if (part === undefined || operator === undefined) return undefined
  const compared = part.startsWith('abs(') ? Math.abs(value) : value
  if (operator === '==') return compared === Number(number)
  return operator === '>' ? compared > Number(number) : compared < Number(number)
}

class QueryReader {
  readonly #tokens: string[] = []
  readonly #selectors: Selector[] = []
  readonly #grouped: string[] = []
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
    const trimmed = text.trimEnd()
    token.lastIndex = 0
    while (token.lastIndex < trimmed.length) {
      const from = token.lastIndex
      const found = token.exec(trimmed)
      if (found === null) throw new Error(`${text}: not understood from ${trimmed.slice(from)}`)
      this.#tokens.push(found[0].trim())
    }
  }

  read(): Expression {
    this.#expression()
    if (this.#at < this.#tokens.length) throw this.#wrong('too much')
    return { selectors: this.#selectors, grouped: this.#grouped }
  }

  #expression(): void {
    if (this.#operand()) throw this.#wrong('a range of samples alone')
    while (this.#operator()) {
      if (this.#operand()) throw this.#wrong('an operator on a range')
    }
  }

  /** Returns whether it is a range of samples. */
  #operand(): boolean {
    const next = this.#take()
    if (next === '(') {
      this.#expression()
      this.#expect(')')
      return false
    }
    if (next === '-') return this.#operand()
    if (/^\d/.test(next)) {
      if (/[a-z]$/.test(next)) throw this.#wrong(`${next} outside of brackets`)
      return false
    }
    if (!/^[a-zA-Z_:]/.test(next)) throw this.#wrong(`no operand: ${next}`)
    if (next in aggregations) return this.#aggregation(next)
    if (this.#peek() === '(') return this.#call(next)
    return this.#selector(next)
  }

  #aggregation(name: string): boolean {
    const before = this.#grouping()
    this.#arguments(aggregations[name] as number, aggregations[name] as number)
    if (!before) this.#grouping()
    return false
  }

  /** Takes an operator, with the labels by which it matches. */
  #operator(): boolean {
    if (!operators.includes(this.#peek())) return false
    this.#at++
    this.#grouping(['on', 'ignoring'])
    return true
  }

  #grouping(words: readonly string[] = ['by', 'without']): boolean {
    if (!words.includes(this.#peek())) return false
    this.#at++
    this.#expect('(')
    for (let first = true; this.#peek() !== ')'; first = false) {
      if (!first) this.#expect(',')
      this.#grouped.push(this.#name())
    }
    this.#expect(')')
    return true
  }

  #call(name: string): boolean {
    const counts = functions[name]
    if (counts === undefined) throw this.#wrong(`unknown function ${name}`)
    const isRange = this.#arguments(...counts)
    if (overRange.includes(name) !== isRange) throw this.#wrong(`${name} of the wrong kind of samples`)
    return false
  }

  #arguments(least: number, most: number): boolean {
    this.#expect('(')
    let count = 0
    let isRange = false
    while (this.#peek() !== ')') {
      if (count++ > 0) this.#expect(',')
      const from = this.#at
      isRange = this.#operand()
      while (this.#operator()) {
        if (this.#operand() || isRange) throw this.#wrong('an operator on a range')
      }
      if (this.#at === from) throw this.#wrong('an empty argument')
    }
    this.#expect(')')
    if (count < least || count > most) throw this.#wrong(`${count} arguments`)
    return isRange
  }

  #selector(name: string): boolean {
    const labels: string[] = []
    if (this.#peek() === '{') {
      this.#at++
      for (let first = true; this.#peek() !== '}'; first = false) {
        if (!first) this.#expect(',')
        labels.push(this.#name())
        const operator = this.#take()
        if (!['=', '!=', '=~', '!~'].includes(operator)) throw this.#wrong(`no matcher: ${operator}`)
        const value = this.#take()
        if (!value.startsWith('"')) throw this.#wrong(`no text: ${value}`)
        if (operator.endsWith('~')) new RegExp(value.slice(1, -1).replaceAll('$instance', 'x'))
      }
      this.#expect('}')
    }
    this.#selectors.push({ name, labels })
    if (this.#peek() !== '[') return false
    this.#at++
    const range = this.#take()
    if (!/^\d+[smhdwy]$/.test(range)) throw this.#wrong(`no range: ${range}`)
    this.#expect(']')
    return true
  }

  #name(): string {
    const name = this.#take()
    if (!/^[a-zA-Z_]\w*$/.test(name)) throw this.#wrong(`no label: ${name}`)
    return name
  }

  #peek(): string {
    return this.#tokens[this.#at] ?? ''
  }

  #take(): string {
    const next = this.#tokens[this.#at++]
    if (next === undefined) throw this.#wrong('too short')
    return next
  }

  #expect(wanted: string): void {
    const next = this.#take()
    if (next !== wanted) throw this.#wrong(`${wanted} expected, not ${next}`)
  }

  #wrong(what: string): Error {
    return new Error(`${this.#text}: ${what}`)
  }
}
