import { quoted, refusal } from './query-error.js'
import { spend } from './work-budget.js'

/** An object of a parsed document. */
export type Members = Readonly<Record<string, unknown>>

/** Test of a value of parsed JSON; undefined stands for a missing one. */
export type Test = (value: unknown) => boolean

/** Start of a path, which decides the aliases of members there. */
export type Scope = 'document' | 'credential' | 'other'

/**
 * A document has 16 levels, and an index may stand between two of them.
 * @limit count: names of a path in a search condition
 */
const pathSegments = 32

const refusedNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])
const indexForm = /^(?:0|[1-9][0-9]{0,8})$/

/** Aliases of members of a document. */
const aliases: Readonly<Record<Scope, readonly [name: string, member: string] | undefined>> = {
  document: ['credential', 'verifiableCredential'],
  credential: ['subject', 'credentialSubject'],
  other: undefined,
}

interface Segment {
  readonly name: string
  /** The member used if there is none of that name. */
  readonly otherwise: string | undefined
  /** The name as the index of an array. */
  readonly index: number | undefined
}

/** A dotted key: the path from an object to the values of a condition. */
export class Path {
  readonly #segments: readonly Segment[]
  /** Scope of the values at the end. */
  readonly scope: Scope

  private constructor(segments: readonly Segment[], scope: Scope) {
    this.#segments = segments
    this.scope = scope
  }

  /** The path from a value to itself. */
  static readonly here = new Path([], 'other')

  /** Reads a key; `where` is its path in the condition. Throws `query-invalid` for names that no document can have. */
  static of(key: string, from: Scope, where: string): Path {
    const names = key.split('.')
    if (names.length > pathSegments) throw refusal(where, `a path has at most ${pathSegments} names`)
    let scope = from
    const segments = names.map((name): Segment => {
      if (name === '') throw refusal(where, `the path ${quoted(key)} has an empty name`)
      if (refusedNames.has(name)) throw refusal(where, `${name} cannot stand in a path`)
      const alias = aliases[scope]
      const otherwise = alias?.[0] === name ? alias[1] : undefined
      const index = indexForm.test(name) ? Number(name) : undefined
      scope = after(scope, otherwise ?? name, index)
      return { name, otherwise, index }
    })
    return new Path(segments, scope)
  }

  /**
   * Whether any value at the end of the path passes, as MongoDB walks it: an array on the way is entered by index and, one level
   * deep, by the objects in it. A missing member or index is tested as undefined.
   */
  some(from: unknown, test: Test): boolean {
    return walk(from, this.#segments, 0, test)
  }
}

/** Members of a document at which a key of its condition begins: the first name, and what it may stand for. */
export function rootsOf(key: string): readonly string[] {
  const [name = ''] = key.split('.')
  const alias = aliases.document
  return alias?.[0] === name ? alias : [name]
}

function after(scope: Scope, name: string, index: number | undefined): Scope {
  if (scope === 'document') return name === 'verifiableCredential' ? 'credential' : 'other'
  return scope === 'credential' && index !== undefined ? 'credential' : 'other'
}

function walk(value: unknown, segments: readonly Segment[], at: number, test: Test): boolean {
  const segment = segments[at]
  if (segment === undefined) return test(value)
  if (!Array.isArray(value)) return walk(memberOf(value, segment), segments, at + 1, test)
  spend(value.length)
  const { index, name } = segment
  if (index === undefined) return value.some((element) => isMembers(element) && walk(element, segments, at, test))
  const named = value.filter((element) => isMembers(element) && Object.hasOwn(element, name))
  if (index >= value.length && named.length === 0) return walk(undefined, segments, at + 1, test)
  if (index < value.length && walk(value[index], segments, at + 1, test)) return true
  return named.some((element) => walk(element, segments, at, test))
}

function memberOf(value: unknown, { name, otherwise }: Segment): unknown {
  if (!isMembers(value)) return undefined
  if (Object.hasOwn(value, name)) return value[name]
  return otherwise !== undefined && Object.hasOwn(value, otherwise) ? value[otherwise] : undefined
}

/** Whether a value of parsed JSON is an object, not an array. */
export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
