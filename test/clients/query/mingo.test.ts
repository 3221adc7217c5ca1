import { randomInt } from 'node:crypto'
import fc from 'fast-check'
import { Query } from 'mingo'
import { expect, it } from 'vitest'
import { compileCondition } from '../../../src/identity/did-query/compile.js'
import { conditions, objects } from '../../support/builders/mingo-cases.js'

const seed = randomInt(2 ** 31)
const conditionCount = 3000
const documentsEach = 100

it(`a condition selects the documents that mingo selects, in 300,000 pairs of seed ${seed}`, () => {
  const documents = fc.sample(objects(2), { seed, numRuns: 1500 })
  const texts = documents.map((document) => JSON.stringify(document))
  const seen = { matching: 0, other: 0 }
  fc.sample(conditions(2), { seed, numRuns: conditionCount }).forEach((condition, serial) => {
    const query = new Query(condition)
    const compiled = compileCondition(JSON.stringify(condition))
    for (let i = 0; i < documentsEach; i++) {
      const index = (serial * documentsEach + i) % documents.length
      const document = documents[index] as (typeof documents)[number]
      const expected = query.test(document)
      if (compiled.matches(document) !== expected) {
        throw new Error(`mingo says ${expected} of ${JSON.stringify(condition)} and ${texts[index]}`)
      }
      seen[expected ? 'matching' : 'other']++
    }
  })
  expect(seen.matching + seen.other).toBe(conditionCount * documentsEach)
  expect(Math.min(seen.matching, seen.other)).toBeGreaterThan(30_000)
})
