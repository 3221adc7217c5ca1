import { RuleError } from '../../src/base/errors/rule-error.js'

/**
 * Rows of bounds: each constant of `src` with a tag `@limit` has one, which repeats its value and shows on both sides of it what
 * the program does. `npm run docs:check` compares rows with tags; `limits.test.ts` runs the rows.
 */

/** A bound on what a peer, client, server, file or user feeds, with the way to feed it. */
export interface Limit {
  /** Path below `src` without `.ts`, a dot, and the constant: `base/primitives/spec.fixedLimits.outputs`. */
  readonly name: string
  readonly unit: string
  /** The largest that is accepted, written out: a row that took it from the constant could not tell that the constant is wrong. */
  readonly value: number
  /** The next value, which is refused; `value + 1` unless given. */
  readonly beyond?: number
  /** Feeds `n` through the nearest public door. Throws, or resolves to a text, where it is refused. */
  feed(n: number): unknown
  /** Part of the refusal of what goes beyond: its code, or words of its message. */
  readonly refusal: string | RegExp
}

/** A row. */
export function limit(row: Limit): Limit {
  return row
}

/** The refusal of a feed as `code: message`; undefined where it was accepted. */
export async function refusalOf(run: () => unknown): Promise<string | undefined> {
  try {
    const outcome = await run()
    if (outcome === undefined || typeof outcome === 'string') return outcome
    throw new TypeError('a feed resolves to the refusal as a text, or to undefined')
  } catch (error) {
    if (error instanceof TypeError || !(error instanceof Error)) throw error
    const name = error instanceof RuleError ? error.code : 'failure' in error ? String(error.failure) : undefined
    return name === undefined ? error.message : `${name}: ${error.message}`
  }
}

/** Feeds `n` to several doors of one bound, which have to agree. */
export function everyDoor(...doors: readonly ((n: number) => unknown)[]): (n: number) => Promise<string | undefined> {
  return async (n) => {
    const refusals: (string | undefined)[] = []
    for (const door of doors) refusals.push(await refusalOf(() => door(n)))
    const taken = refusals.filter((refusal) => refusal === undefined).length
    if (taken > 0 && taken < doors.length) {
      throw new TypeError(`${n}: some doors accept it: ${refusals.map((refusal) => refusal ?? 'accepted').join('; ')}`)
    }
    // The first refusal that is of another kind than the others would hide behind them.
    return taken > 0 ? undefined : [...new Set(refusals)].join('\n')
  }
}

/** A feed that counts only refusals like this: what passes the bound may break a later rule. */
export function onlyFor(refusal: RegExp, feed: (n: number) => unknown): (n: number) => Promise<string | undefined> {
  return async (n) => {
    const refused = await refusalOf(() => feed(n))
    return refused !== undefined && refusal.test(refused) ? refused : undefined
  }
}

/** Closes what rows share; run after all of them. */
export const closing: (() => Promise<unknown>)[] = []

/** The message of a failure; undefined where the work succeeds. */
export function failureOf(work: Promise<unknown>): Promise<string | undefined> {
  return work.then(
    () => undefined,
    (error: Error) => error.message,
  )
}

/** As many values, made by their number. */
export function each<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i))
}

/** The same as many times. */
export function many<T>(count: number, one: T): T[] {
  return new Array<T>(count).fill(one)
}

export const mib = 1024 * 1024
