import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../../../src/base/primitives/strict-json.js'
import { compileCondition } from '../../../../src/identity/did-query/compile.js'
import { fromPlain } from '../../../../src/identity/did/plain-json.js'

const textsOf = (condition: object) => compileCondition(condition).texts

describe('texts that a condition needs', () => {
  it.each([
    [{ id: 'did:x' }, ['did:x']],
    [{ service: { type: 'Hub', text: { $regex: '^how' } } }, ['Hub', 'how']],
    [{ text: { $regex: '^a\\.b\\$' } }, ['a.b$']],
    [{ 'credential.type': ['A', 'B'] }, ['A', 'B']],
    [{ $and: [{ a: 'x' }, { b: { $eq: 'y' } }] }, ['x', 'y']],
    [{ a: { $all: ['x', { $elemMatch: { $regex: 'y$' } }] } }, ['x', 'y']],
    [{ service: { $elemMatch: { type: 'Hub', n: { $gt: 'm' } } } }, ['Hub']],
  ])('%j needs %j', (condition, texts) => {
    expect(textsOf(condition)).toEqual(texts)
  })

  it.each([
    { $or: [{ a: 'x' }, { a: 'y' }] },
    { a: { $in: ['x'] } },
    { a: { $not: { $eq: 'x' } } },
    { a: { $ne: 'x' } },
    { a: { $regex: 'x', $options: 'i' } },
    { a: { $regex: '^' } },
    { a: { $gt: 'x' } },
    { a: { $exists: true } },
    // JSON writes these in another way than they are.
    { a: 'x"y' },
    { a: 'x\\y' },
    { a: 'x\ny' },
    { a: 'ü' },
  ])('%j needs none', (condition) => {
    expect(textsOf(condition)).toEqual([])
  })

  it('are in the JSON of each document that matches', () => {
    const text = fc.constantFrom('a', 'b', 'ab', 'a"b', 'ba\\')
    const value = fc.oneof(text, fc.array(text, { maxLength: 2 }), fc.record({ a: text }, { requiredKeys: [] }))
    const operators = fc.oneof(
      fc.record({ $regex: fc.constantFrom('^a', 'b$', 'a', '^ab$', 'a\\\\$', '\\.') }),
      fc.record({ $eq: value }),
      fc.record({ $all: fc.array(text, { maxLength: 2 }) }),
      fc.record({ $elemMatch: fc.record({ a: text }) }),
      fc.record({ $not: fc.record({ $eq: text }) }),
      fc.record({ $in: fc.array(text, { maxLength: 2 }) }),
    )
    const condition = fc.record({ a: fc.oneof(value, operators), b: fc.oneof(text, operators) }, { requiredKeys: [] })
    const document = fc.record({ a: value, b: value }, { requiredKeys: [] })
    let matched = 0
    fc.assert(
      fc.property(condition, document, (asked, members) => {
        const matcher = compileCondition(asked)
        if (!matcher.matches(members)) return
        matched++
        const json = canonicalJson(fromPlain(members))
        for (const needed of matcher.texts) expect(json).toContain(needed)
      }),
      { numRuns: 3000 },
    )
    expect(matched).toBeGreaterThan(100)
  })
})
