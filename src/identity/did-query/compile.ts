/**
 * Compiles a search condition once, so that many documents can be matched with it.
 *
 *   text or object -> readCondition                 condition.ts: JSON or JSON5, limits of size, depth, values
 *     -> compileDocument -> compileMembers -> compileValue, compileOperator    closures; member-path.ts, operators.ts
 *     -> Matcher.matches(document)                  beginEffort, spend: bounded work
 *     -> boolean, or `busy`
 *
 * Imports errors, primitives, runtime; used by watch, events, resolver.
 * - Every fault of a condition is found while compiling: `query-invalid` with the path to it.
 * - Matching one document reads at most 250,000 array elements, else `busy`.
 * - The room reads no documents: it gets them normalised, one at a time.
 */
import type { JsonObject, JsonValue } from '../../base/primitives/strict-json.js'
import { readCondition } from './condition.js'
import { isMembers, type Members, Path, rootsOf, type Scope, type Test } from './member-path.js'
import { neededTexts } from './needed-texts.js'
import { anyOf, type Clause, equalTo, has, operators } from './operators.js'
import { below, quoted, refusal } from './query-error.js'
import { beginFolding } from './case-folded.js'
import { beginEffort, spend } from './work-budget.js'

/** A compiled condition on documents. */
export interface Matcher {
  /** Whether it has no members, so that every document matches. */
  readonly everything: boolean
  /** The condition as it was read. */
  readonly condition: JsonObject
  /** Texts in the canonical JSON of every document that matches. */
  readonly texts: readonly string[]
  /** Members of a document that it looks at, each once: whether it matches depends on no other. */
  readonly names: readonly string[]
  /**
   * Whether a normalised document, as JSON.parse returns it, matches. Its nesting bounds the recursion. `busy` where it takes too
   * much work.
   */
  matches(document: Members): boolean
}

type Predicate = (object: Members) => boolean

/**
 * Compiles a condition, text or an object; docs/query.md defines its meaning. Throws `query-invalid` with the fault and its path.
 */
export function compileCondition(input: string | object): Matcher {
  const condition = readCondition(input)
  const predicate = compileDocument(condition, '')
  return {
    everything: condition.size === 0,
    condition,
    texts: neededTexts(condition),
    names: [...new Set(namesOf(condition))],
    matches: (document) => {
      beginEffort()
      beginFolding()
      return predicate(document)
    },
  }
}

/** A condition on whole documents: members, or `$and`, `$or`, `$nor` of such conditions. */
function compileDocument(condition: JsonObject, where: string): Predicate {
  if (!holdsOperators(condition, where)) return compileMembers(condition, 'document', where)
  const parts = [...condition].map(([name, operand]): Predicate => {
    const at = below(where, name)
    if (name !== '$and' && name !== '$or' && name !== '$nor') {
      throw refusal(at, 'only $and, $or and $nor can stand here, for there is no path to a value')
    }
    const some = list(operand, at).map((entry, i) => compileDocument(entry, `${at}[${i}]`))
    if (name === '$and') return (document) => some.every((predicate) => predicate(document))
    const any: Predicate = (document) => some.some((predicate) => predicate(document))
    return name === '$or' ? any : (document) => !any(document)
  })
  return (document) => parts.every((predicate) => predicate(document))
}

/** Members of a document that a valid condition on it looks at. */
function namesOf(condition: JsonObject): readonly string[] {
  return [...condition].flatMap(([name, operand]) =>
    name.startsWith('$') ? list(operand, '').flatMap(namesOf) : rootsOf(name),
  )
}

/** A condition on one object whose members are paths: all of them must hold. */
function compileMembers(condition: JsonObject, scope: Scope, where: string): Predicate {
  const parts = [...condition].map(([name, value]): Predicate => {
    const at = below(where, name)
    const path = Path.of(name, scope, at)
    const clause = compileValue(value, path.scope, at)
    return (object) => clause(object, path)
  })
  return (object) => parts.every((predicate) => predicate(object))
}

/** Compiles the condition on the values at a path. */
function compileValue(value: JsonValue, scope: Scope, where: string): Clause {
  if (Array.isArray(value)) return compileContains(value, scope, where)
  if (!(value instanceof Map)) return anyOf(equalTo(value))
  if (holdsOperators(value, where)) return compileOperators(value, scope, where)
  const predicate = compileMembers(value, scope, where)
  return anyOf((found) => anyObject(found, predicate))
}

/** An array that has a matching element for every one of `values`. */
function compileContains(values: readonly JsonValue[], scope: Scope, where: string): Clause {
  const tests = values.map((value, i) => {
    if (typeof value !== 'object' || value === null) return (found: readonly unknown[]) => has(found, value)
    const clause = compileValue(value, scope, `${where}[${i}]`)
    return (found: readonly unknown[]) => someOf(found, (element) => clause(element, Path.here))
  })
  return anyOf((found) => Array.isArray(found) && tests.every((test) => test(found)))
}

function compileOperators(condition: JsonObject, scope: Scope, where: string): Clause {
  const clauses = [...condition].map(([name, operand]): Clause =>
    compileOperator(name, operand, condition, scope, where),
  )
  return (from, path) => clauses.every((clause) => clause(from, path))
}

function compileOperator(name: string, operand: JsonValue, siblings: JsonObject, scope: Scope, where: string): Clause {
  const at = below(where, name)
  const compile = (condition: JsonObject, entryAt: string) => compileValue(condition, scope, entryAt)
  switch (name) {
    case '$and':
    case '$or':
    case '$nor': {
      const clauses = list(operand, at).map((entry, i) => compile(entry, `${at}[${i}]`))
      if (name === '$and') return (from, path) => clauses.every((clause) => clause(from, path))
      const any: Clause = (from, path) => clauses.some((clause) => clause(from, path))
      return name === '$or' ? any : (from, path) => !any(from, path)
    }
    case '$not': {
      const clause = compile(object(operand, at), at)
      return (from, path) => !clause(from, path)
    }
    case '$elemMatch':
      return compileElemMatch(object(operand, at), scope, at)
    case '$all':
      return compileAll(operand, scope, at)
    default: {
      const operator = operators.get(name)
      if (operator !== undefined) return operator(operand, at, siblings)
      throw refusal(at, `${quoted(name)} is not an operator; there are ${operatorNames()}`)
    }
  }
}

/** An array with one element that meets the whole condition. */
function compileElemMatch(condition: JsonObject, scope: Scope, where: string): Clause {
  if (holdsOperators(condition, where)) {
    const clause = compileOperators(condition, scope, where)
    return anyOf((found) => Array.isArray(found) && someOf(found, (element) => clause(element, Path.here)))
  }
  const predicate = compileMembers(condition, scope, where)
  return anyOf((found) => Array.isArray(found) && someOf(found, (element) => isMembers(element) && predicate(element)))
}

/** Every operand is met by some value at the path; an empty list is met by nothing. */
function compileAll(operand: JsonValue, scope: Scope, where: string): Clause {
  if (!Array.isArray(operand)) throw refusal(where, 'an array is needed')
  const clauses = operand.map((entry, i) => {
    const at = `${where}[${i}]`
    const inner = entry instanceof Map && entry.size === 1 ? entry.get('$elemMatch') : undefined
    if (inner === undefined) return anyOf(equalTo(entry, at))
    return compileElemMatch(object(inner, at), scope, below(at, '$elemMatch'))
  })
  return (from, path) => clauses.length > 0 && clauses.every((clause) => clause(from, path))
}

/** Whether the members of an object are operators; a mixture is refused. */
function holdsOperators(condition: JsonObject, where: string): boolean {
  const names = [...condition.keys()]
  const count = names.filter((name) => name.startsWith('$')).length
  if (count === 0) return false
  if (count === names.length) return true
  const [operator = '', plain = ''] = [true, false].map((is) => names.find((name) => name.startsWith('$') === is))
  throw refusal(
    where,
    `the operator ${quoted(operator)} stands beside the member ${quoted(plain)}; $and takes conditions of both kinds`,
  )
}

/** Whether a value is an object that matches, or an array that leads to one. */
function anyObject(value: unknown, predicate: Predicate): boolean {
  if (Array.isArray(value)) return someOf(value, (element) => anyObject(element, predicate))
  return isMembers(value) && predicate(value)
}

function someOf(array: readonly unknown[], test: Test): boolean {
  spend(array.length)
  return array.some(test)
}

function object(operand: JsonValue, where: string): JsonObject {
  if (operand instanceof Map) return operand
  throw refusal(where, 'an object is needed')
}

/** The conditions that a logical operator joins. */
function list(operand: JsonValue, where: string): readonly JsonObject[] {
  if (!Array.isArray(operand) || operand.length === 0)
    throw refusal(where, 'an array of one condition or more is needed')
  return operand.map((entry, i) => object(entry, `${where}[${i}]`))
}

function operatorNames(): string {
  return ['$and', '$or', '$nor', '$not', '$elemMatch', '$all', ...operators.keys()].join(' ')
}
