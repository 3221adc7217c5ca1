import fc from 'fast-check'
import { expect, it } from 'vitest'
import { compileCondition } from '../../../../src/identity/did-query/compile.js'

it.each<[object, readonly string[]]>([
  [{}, []],
  [{ id: 'did:x' }, ['id']],
  [{ 'service.type': 'Hub', service: { text: 'x' } }, ['service']],
  [{ 'credential.type': 'A' }, ['credential', 'verifiableCredential']],
  [{ verifiableCredential: { 'credential.x': 1 } }, ['verifiableCredential']],
  [{ $and: [{ a: 1 }, { $or: [{ b: 1 }, { $nor: [{ 'c.d': 1 }] }] }] }, ['a', 'b', 'c']],
  [{ a: { $elemMatch: { b: 1 } }, c: { $not: { $eq: 1 } } }, ['a', 'c']],
])('%j looks at %j', (condition, names) => {
  expect(compileCondition(condition).names).toEqual(names)
})

it('decides by the members that it names alone', () => {
  const name = fc.constantFrom('a', 'b', 'credential', 'verifiableCredential')
  const value = fc.oneof(fc.constantFrom(1, 2, 'x'), fc.array(fc.constantFrom(1, 2), { maxLength: 2 }))
  const operand = fc.oneof(
    value,
    fc.record({ a: value }),
    fc.record({ $ne: fc.constantFrom(1, 2) }),
    fc.record({ $exists: fc.boolean() }),
  )
  const simple = fc
    .tuple(
      fc.oneof(
        name,
        name.map((one) => `${one}.a`),
      ),
      operand,
    )
    .map(([key, one]) => ({ [key]: one }))
  const several = fc.tuple(fc.constantFrom('$and', '$or', '$nor'), fc.array(simple, { minLength: 1, maxLength: 2 }))
  const condition = fc.oneof(
    simple,
    several.map(([key, some]) => ({ [key]: some })),
  )
  const document = fc.dictionary(name, fc.oneof(value, fc.record({ a: value })), { maxKeys: 4 })
  fc.assert(
    fc.property(condition, document, (asked, members) => {
      const matcher = compileCondition(asked)
      const named = Object.entries(members).filter(([key]) => matcher.names.includes(key))
      expect(matcher.matches(Object.fromEntries(named))).toBe(matcher.matches(members))
    }),
    { numRuns: 3000 },
  )
})

it('orders texts by their characters, as the bytes of UTF-8 are ordered', () => {
  const text = fc.string({ unit: fc.constantFrom(...'aé\ud7ff\ue000\uff5e😀😁\u{10ffff}'), maxLength: 5 })
  fc.assert(
    fc.property(text, text, (a, bound) => {
      const order = Buffer.compare(Buffer.from(a), Buffer.from(bound))
      const met = ['$lt', '$lte', '$gt', '$gte'].map((name) =>
        compileCondition({ a: { [name]: bound } }).matches({ a }),
      )
      expect(met).toEqual([order < 0, order <= 0, order > 0, order >= 0])
    }),
  )
})
