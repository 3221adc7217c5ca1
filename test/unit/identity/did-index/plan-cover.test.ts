import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fromUtf8 } from '../../../../src/base/primitives/bytes.js'
import { finish } from '../../../../src/base/primitives/steps.js'
import { tokenSteps } from '../../../../src/identity/did-index/document-tokens.js'
import { planSearch } from '../../../../src/identity/did-index/plan-condition.js'
import { coverOf } from '../../../../src/identity/did-index/plan-cover.js'
import { tokenKind, tokenOf } from '../../../../src/identity/did-index/token.js'
import { compileCondition } from '../../../../src/identity/did-query/compile.js'
import {
  conditionsAtOnePlace,
  conditionsOf,
  documentOf,
  someDids,
} from '../../../support/builders/query-arbitraries.js'
import { rounds } from '../../../support/process/thorough.js'

const coverOfText = (condition: string) => coverOf(planSearch(compileCondition(condition).condition))

it('has a token or the DID of every document that meets the condition', () => {
  let covered = 0
  let met = 0
  const document = fc.constantFrom(...someDids).chain((did) => documentOf(did))
  const condition = fc.oneof(conditionsAtOnePlace, conditionsOf(2))
  fc.assert(
    fc.property(condition, fc.array(document, { minLength: 1, maxLength: 4 }), (asked, documents) => {
      const matcher = compileCondition(asked)
      const cover = coverOf(planSearch(matcher.condition))
      if (cover === undefined) return
      covered++
      for (const one of documents) {
        if (!matcher.matches(one)) continue
        met++
        const tokens = finish(tokenSteps(fromUtf8(JSON.stringify(one))))
        const isFound = cover.dids.has(one['id'] as string) || [...cover.tokens].some((token) => tokens.has(token))
        expect(isFound, JSON.stringify({ asked, one })).toBe(true)
      }
    }),
    { numRuns: rounds(1000, 50_000) },
  )
  // The property says nothing of conditions without a cover, nor of documents that do not match.
  expect(Math.min(covered, met)).toBeGreaterThan(100)
})

it('takes the part that fewest documents share, and nothing where any document may match', () => {
  const claim = coverOfText('{credential: {type: ["T"], subject: {name: "Ada"}}}')
  expect([...(claim?.tokens ?? [])].map((token) => token.charCodeAt(0))).toEqual([
    tokenKind.claimValue,
    tokenKind.overflow,
  ])
  expect(coverOfText('{service: {type: "Hub"}, expires: {$gte: "2027"}}')).toEqual({
    tokens: new Set([tokenOf(tokenKind.serviceType, 'Hub')]),
    dids: new Set(),
  })
  expect(coverOfText('{id: "did:ledger:a", service: {type: "Hub"}}')?.dids).toEqual(new Set(['did:ledger:a']))
  for (const open of [
    '{}',
    '{$nor: [{service: {type: "Hub"}}]}',
    '{service: {$size: 1}}',
    '{$or: [{service: {type: "A"}}, {}]}',
  ]) {
    expect(coverOfText(open), open).toBeUndefined()
  }
})
