import fc from 'fast-check'
import { Query } from 'mingo'
import { describe, expect, it } from 'vitest'
import { compileCondition } from '../../../src/identity/did-query/compile.js'
import { conditions, objects } from '../../support/builders/mingo-cases.js'
import { rounds } from '../../support/process/thorough.js'

const numRuns = rounds(800, 5000)

describe('dotted keys and $elemMatch', () => {
  it('mean what they mean to mingo', () => {
    const seen = { matching: 0, other: 0 }
    fc.assert(
      fc.property(objects(2), conditions(2), (document, condition) => {
        const expected = new Query(condition).test(document)
        expect(compileCondition(condition).matches(document)).toBe(expected)
        expect(compileCondition(JSON.stringify(condition)).matches(document)).toBe(expected)
        seen[expected ? 'matching' : 'other']++
      }),
      { numRuns },
    )
    expect(Math.min(seen.matching, seen.other)).toBeGreaterThan(numRuns / 10)
  })
})
