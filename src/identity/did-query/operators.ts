import type { JsonObject, JsonValue } from '../../base/primitives/strict-json.js'
import { isMembers, type Path, type Test } from './member-path.js'
import { foldedOnce } from './case-folded.js'
import { below, refusal } from './query-error.js'
import { textPart } from './text-part.js'
import { spend } from './work-budget.js'

/** Whether the values at a path meet a part of a condition. */
export type Clause = (from: unknown, path: Path) => boolean

/** Compiles an operator: its operand, its path in the condition, and the object that holds it. */
type Operator = (operand: JsonValue, where: string, siblings: JsonObject) => Clause

/** Some value at the path passes the test. */
export function anyOf(test: Test): Clause {
  return (from, path) => path.some(from, test)
}

function noneOf(test: Test): Clause {
  return (from, path) => !path.some(from, test)
}

/** The value passes the test, or it is an array with an element that does. */
function orElement(test: Test): Test {
  return (value) => {
    if (!Array.isArray(value)) return test(value)
    spend(value.length)
    // A loop for speed: an array may fill a whole document, and a condition may test it many times.
    for (const element of value) if (test(element)) return true
    return test(value)
  }
}

/** Equality without conversion, or membership in an array; null equals a missing value too. */
export function equalTo(expected: JsonValue, where = ''): Test {
  if (expected === null) return orElement((value) => value === null || value === undefined)
  if (typeof expected !== 'object')
    return (value) => value === expected || (Array.isArray(value) && has(value, expected))
  refuseOperators(expected, where)
  return orElement((value) => deepEqual(expected, value))
}

/** Whether a scalar is an element of an array. */
export function has(array: readonly unknown[], scalar: unknown): boolean {
  spend(array.length)
  return array.includes(scalar)
}

/** Refuses operators inside a literal, which is compared as it is. */
function refuseOperators(literal: JsonValue, where: string): void {
  if (Array.isArray(literal)) literal.forEach((entry, i) => refuseOperators(entry, `${where}[${i}]`))
  if (!(literal instanceof Map)) return
  for (const [name, value] of literal) {
    if (name.startsWith('$')) throw refusal(below(where, name), 'no operator can stand inside a value')
    refuseOperators(value, below(where, name))
  }
}

/** Deep equality; the order of members does not matter. */
function deepEqual(expected: JsonValue, value: unknown): boolean {
  spend(1)
  if (Array.isArray(expected)) {
    return (
      Array.isArray(value) &&
      value.length === expected.length &&
      expected.every((entry, i) => deepEqual(entry, value[i]))
    )
  }
  if (!(expected instanceof Map)) return expected === value
  return (
    isMembers(value) &&
    Object.keys(value).length === expected.size &&
    [...expected].every(([name, entry]) => Object.hasOwn(value, name) && deepEqual(entry, value[name]))
  )
}

/** Compares numbers with numbers, texts with texts by their characters, nothing else. `isMet` takes the sign of value less bound. */
function ordered(isMet: (sign: number) => boolean): Operator {
  return (bound, where) => {
    if (typeof bound === 'string') {
      const signOf = needsCodePoints.test(bound) ? textSign : plainSign
      return anyOf(orElement((value) => typeof value === 'string' && isMet(signOf(value, bound))))
    }
    if (typeof bound !== 'number') throw refusal(where, 'a number or a string is needed')
    return anyOf(orElement((value) => typeof value === 'number' && isMet(plainSign(value, bound))))
  }
}

function plainSign<Value extends number | string>(value: Value, bound: Value): number {
  return value === bound ? 0 : value < bound ? -1 : 1
}

/** Units of UTF-16 whose order is not that of characters, as in MongoDB: halves of pairs stand for characters above all others. */
const needsCodePoints = /[\ud800-\uffff]/

function textSign(value: string, bound: string): number {
  let at = 0
  while (at < value.length && value[at] === bound[at]) at++
  return Math.sign(rankAt(value, at) - rankAt(bound, at))
}

/** Rank of a unit among those at the same place of other texts; the end of a text is below all. */
function rankAt(text: string, at: number): number {
  const unit = at < text.length ? text.charCodeAt(at) : -1
  return (unit & 0xf800) === 0xd800 ? unit + 0x10000 : unit
}

function oneOf(operand: JsonValue, where: string): Test {
  if (!Array.isArray(operand)) throw refusal(where, 'an array is needed')
  const scalars = new Set<unknown>(operand.filter((entry) => typeof entry !== 'object' || entry === null))
  if (scalars.has(null)) scalars.add(undefined)
  operand.forEach((entry, i) => refuseOperators(entry, `${where}[${i}]`))
  const others = operand.filter((entry) => typeof entry === 'object' && entry !== null)
  return orElement((value) => scalars.has(value) || others.some((entry) => deepEqual(entry, value)))
}

const typeTests: ReadonlyMap<string, Test> = new Map([
  ['string', orElement((value) => typeof value === 'string')],
  ['number', orElement((value) => typeof value === 'number')],
  ['bool', orElement((value) => typeof value === 'boolean')],
  ['null', orElement((value) => value === null)],
  ['object', orElement(isMembers)],
  ['array', (value) => Array.isArray(value)],
])

function typeOf(operand: JsonValue, where: string): Test {
  const names = Array.isArray(operand) ? operand : [operand]
  if (names.length === 0) throw refusal(where, 'a type is needed')
  const tests = names.map((name) => {
    const test = typeof name === 'string' ? typeTests.get(name) : undefined
    if (test === undefined) throw refusal(where, `a type is one of ${[...typeTests.keys()].join(', ')}`)
    return test
  })
  return (value) => tests.some((test) => test(value))
}

function remainder(operand: JsonValue, where: string): Test {
  const [divisor, rest] = Array.isArray(operand) && operand.length === 2 ? operand : []
  if (!Number.isSafeInteger(divisor) || !Number.isSafeInteger(rest) || divisor === 0) {
    throw refusal(where, 'an array of two integers is needed, divisor and remainder, the divisor not 0')
  }
  return orElement((value) => typeof value === 'number' && Math.trunc(value) % (divisor as number) === rest)
}

/** Binary digits of the characters that take as long as an element. */
const charactersBits = 6

/** Text with `^` before it, `$` behind it, both or neither, compared literally: no expression is run. */
function textTest(operand: JsonValue, where: string, siblings: JsonObject): Test {
  if (typeof operand !== 'string') throw refusal(where, 'a string is needed')
  const { text, fromStart, toEnd } = textPart(operand, where)
  const fold = foldCase(siblings, where)
  const part = fold(text)
  const compare = (value: string) => {
    if (fromStart) return toEnd ? value === part : value.startsWith(part)
    return toEnd ? value.endsWith(part) : value.includes(part)
  }
  return orElement((value) => {
    if (typeof value !== 'string') return false
    spend(value.length >> charactersBits)
    return compare(fold(value))
  })
}

function foldCase(siblings: JsonObject, where: string): (text: string) => string {
  const options = siblings.has('$options') ? siblings.get('$options') : ''
  // Of a literal text s changes nothing, as u, which drivers of MongoDB add by themselves.
  if (typeof options === 'string' && /^[isu]*$/.test(options))
    return options.includes('i') ? foldedOnce : (text) => text
  throw refusal(where, '$options beside it can only have the letters i, s and u')
}

/** Operators that need nothing but their operand. */
export const operators: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ['$eq', (operand, where) => anyOf(equalTo(operand, where))],
  ['$ne', (operand, where) => noneOf(equalTo(operand, where))],
  ['$gt', ordered((sign) => sign > 0)],
  ['$gte', ordered((sign) => sign >= 0)],
  ['$lt', ordered((sign) => sign < 0)],
  ['$lte', ordered((sign) => sign <= 0)],
  ['$in', (operand, where) => anyOf(oneOf(operand, where))],
  ['$nin', (operand, where) => noneOf(oneOf(operand, where))],
  [
    '$exists',
    (operand, where) => {
      if (typeof operand !== 'boolean') throw refusal(where, 'true or false is needed')
      const isThere: Test = (value) => value !== undefined
      return operand ? anyOf(isThere) : noneOf(isThere)
    },
  ],
  ['$type', (operand, where) => anyOf(typeOf(operand, where))],
  [
    '$size',
    (operand, where) => {
      if (!Number.isSafeInteger(operand) || (operand as number) < 0)
        throw refusal(where, 'a count of elements is needed')
      return anyOf((value) => Array.isArray(value) && value.length === operand)
    },
  ],
  ['$mod', (operand, where) => anyOf(remainder(operand, where))],
  ['$regex', (operand, where, siblings) => anyOf(textTest(operand, where, siblings))],
  [
    '$options',
    (_, where, siblings) => {
      if (!siblings.has('$regex')) throw refusal(where, 'it can only stand beside $regex')
      return () => true
    },
  ],
])
