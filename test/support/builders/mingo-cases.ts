import fc from 'fast-check'
import type { Members } from '../../../src/identity/did-query/member-path.js'

/**
 * Documents and conditions that mingo, as the oracle, reads the way that the chain does: dotted keys and $elemMatch. It joins the arrays that a path leads
 * through before an operator sees them, which differs from MongoDB: so one array is on the way at most, to scalars, and
 * none where null or an array is asked for.
 *
 * Documents have scalars s and t, lists of scalars m and n, objects o, and lists of objects p, three levels deep.
 */
const scalar = fc.oneof(fc.integer({ min: -3, max: 6 }), fc.constantFrom('', 'a', 'b', 'ab', '1'), fc.boolean())
const list = fc.array(scalar, { maxLength: 4 })

export function objects(depth: number): fc.Arbitrary<Members> {
  const flat = { s: scalar, t: fc.oneof(scalar, list), m: list, n: list }
  if (depth === 0) return fc.record(flat, { requiredKeys: [] })
  const inner = objects(depth - 1)
  const nested = { ...flat, o: inner, p: fc.array(inner, { minLength: 1, maxLength: 3 }) }
  return fc.record(nested, { requiredKeys: [] })
}

const bound = fc.oneof(fc.integer({ min: -3, max: 6 }), fc.constantFrom('', 'a', 'b', 'ab', '1'))
/** Conditions on scalars, alone or in a list. */
const ofScalars: fc.Arbitrary<unknown> = fc.oneof(
  scalar,
  scalar.map(($eq) => ({ $eq })),
  scalar.map(($ne) => ({ $ne })),
  bound.map(($gt) => ({ $gt })),
  bound.map(($gte) => ({ $gte })),
  fc.tuple(bound, bound).map(([$lt, $gte]) => ({ $lt, $gte })),
  bound.map(($lte) => ({ $lte })),
  list.map(($in) => ({ $in })),
  list.map(($nin) => ({ $nin })),
  fc.boolean().map(($exists) => ({ $exists })),
  bound.map(($gt) => ({ $not: { $gt } })),
  scalar.map(($eq) => ({ $not: { $eq } })),
  fc.constantFrom('a', '^a', 'b$', '^ab$', '').map(($regex) => ({ $regex })),
  fc.constantFrom('A', '^aB').map(($regex) => ({ $regex, $options: 'i' })),
)
/** Conditions on a list as a whole. */
const ofLists: fc.Arbitrary<unknown> = fc.oneof(
  fc.nat(4).map(($size) => ({ $size })),
  fc.array(scalar, { minLength: 1, maxLength: 2 }).map(($all) => ({ $all })),
  list.filter((values) => values.length > 0).map(($eq) => ({ $eq })),
  fc.tuple(bound, bound).map(([$gt, $lt]) => ({ $elemMatch: { $gt, $lt } })),
  list.map(($in) => ({ $elemMatch: { $in } })),
  fc.tuple(bound, scalar).map(([$lt, $ne]) => ({ $not: { $elemMatch: { $lt, $ne } } })),
)

/** A way through the elements of an array, and one through none. */
const through = fc.constantFrom(['p'], ['o', 'p'], ['p', 'o'])
const straight = fc.array(fc.constantFrom('o', 'p.0', 'p.1'), { maxLength: 3 })

/** One member: a way, a name at its end, and what is asked of it. */
function asked(
  way: fc.Arbitrary<readonly string[]>,
  last: readonly string[],
  value: fc.Arbitrary<unknown>,
): fc.Arbitrary<Members> {
  return fc
    .tuple(way, fc.constantFrom(...last), value)
    .map(([names, name, of]) => ({ [[...names, name].join('.')]: of }))
}

const plain = fc.oneof(asked(through, ['s'], ofScalars), asked(straight, ['s', 't', 'm'], ofScalars))
const whole = asked(straight, ['m', 'n'], ofLists)
const missing = asked(straight, ['s', 'm'], fc.constantFrom(null, { $eq: null }, { $ne: null }, { $in: [null] }))
const index = asked(straight, ['m.0', 'm.1', 'm.3'], scalar)

export function conditions(depth: number): fc.Arbitrary<Members> {
  if (depth === 0) return fc.oneof(plain, whole, missing, index)
  const inner = conditions(depth - 1)
  const elements = inner.map(($elemMatch) => ({ $elemMatch }))
  const joined = fc.array(inner, { minLength: 1, maxLength: 3 })
  return fc.oneof(
    { weight: 3, arbitrary: plain },
    whole,
    missing,
    index,
    asked(straight, ['p'], elements),
    asked(
      straight,
      ['p'],
      elements.map(($not) => ({ $not })),
    ),
    fc.tuple(plain, index).map(([a, b]) => ({ ...a, ...b })),
    fc.tuple(fc.constantFrom('$and', '$or', '$nor'), joined).map(([name, of]) => ({ [name]: of })),
  )
}
