import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hasDocument, ordinalsOf } from '../../../../src/identity/did-index/chunk-sets.js'
import { planSearch } from '../../../../src/identity/did-index/plan-condition.js'
import { notRead, type PlanRows } from '../../../../src/identity/did-index/plan-part.js'
import { PlanReader } from '../../../../src/identity/did-index/plan-reader.js'
import { type DocumentPlan, soleToken, withNamed } from '../../../../src/identity/did-index/plan.js'
import { chunkOf } from '../../../../src/identity/did-index/posting-chunk.js'
import { tokenKind, tokenOf } from '../../../../src/identity/did-index/token.js'
import { compileCondition } from '../../../../src/identity/did-query/compile.js'
import { readCondition } from '../../../../src/identity/did-query/condition.js'
import type { Members } from '../../../../src/identity/did-query/member-path.js'
import { finish } from '../../../../src/base/primitives/steps.js'
import {
  conditionsAtOnePlace,
  conditionsOf,
  documentOf,
  someDids,
} from '../../../support/builders/query-arbitraries.js'
import { PostingLists } from '../../../support/fakes/posting-lists.js'
import { rounds } from '../../../support/process/thorough.js'

/** Ordinals that a plan finds surely, and those that it may find. */
function found(condition: Members, rows: PlanRows): { sure: number[]; possible: number[] } | undefined {
  const root = withNamed(planSearch(readCondition(condition)))
  if (root === undefined) return undefined
  const reader = new PlanReader(root, rows)
  const result = { sure: [] as number[], possible: [] as number[] }
  for (let at = 0; at !== Infinity;) {
    const chunk = reader.next(at)
    if (chunk === notRead) continue
    if (chunk === Infinity) break
    const { sure, possible } = finish(reader.read(chunk))
    for (const ordinal of ordinalsOf(possible)) {
      result.possible.push(chunk * 256 + ordinal)
      if (hasDocument(sure, ordinal)) result.sure.push(chunk * 256 + ordinal)
    }
    at = chunk + 1
  }
  return result
}

const expires = '2030-01-01T00:00:00Z'
const dids = Array.from({ length: 24 }, (_, i) => someDids[i] ?? `did:ledger:${i}`)
/** Documents far apart and close together. */
const ordinalOf = (i: number) => (i < 12 ? i * 100 : 5000 + i)
const collections = fc.tuple(...dids.map(documentOf))

describe('planSearch', () => {
  /** How many conditions have an exact plan, one that needs verification, none; and the matches. */
  const seen = { exact: 0, part: 0, none: 0, found: 0 }
  const collectionsAtMost = rounds(30, 1000)
  it.each([
    ['nested', conditionsOf(2)],
    ['at one place', conditionsAtOnePlace],
  ])('finds what conditions %s mean: all that is sure matches, and all that matches is possible', (_, conditions) => {
    const some = fc.array(conditions, { minLength: 80, maxLength: 80 })
    fc.assert(
      fc.property(collections, some, (documents, conditions) => {
        const rows = new PostingLists(documents.map((document, i) => [ordinalOf(i), document]))
        for (const condition of conditions) checkPlan(condition, documents, rows)
      }),
      { numRuns: collectionsAtMost },
    )
    expect(Math.min(seen.exact, seen.part, seen.none, seen.found)).toBeGreaterThan(collectionsAtMost)
  })

  function checkPlan(condition: Members, documents: readonly Members[], rows: PostingLists): void {
    const plan = planSearch(readCondition(condition))
    const { matches } = compileCondition(condition)
    const result = found(condition, rows)
    if (result === undefined) {
      seen.none++
      return
    }
    const { sure, possible } = result
    const matching = documents.flatMap((document, i) => (matches(document) ? [ordinalOf(i)] : []))
    const context = JSON.stringify(condition)
    expect(matching, context).toEqual(expect.arrayContaining(sure))
    expect(possible, context).toEqual(expect.arrayContaining(matching))
    // Documents that the condition names are verified in any case.
    const named = new Set(plan.named.map((did) => rows.ordinal(did)))
    const open = possible.filter((ordinal) => !sure.includes(ordinal) && !named.has(ordinal))
    if (plan.exact) expect(open, context).toEqual([])
    seen[plan.exact ? 'exact' : 'part']++
    seen.found += matching.length
  }

  const credential = (condition: unknown) => ({ credential: condition })
  const claim = (value: unknown) => credential({ subject: { email: value } })
  it.each<readonly [condition: Members, answer: 'exact' | 'part' | 'none']>([
    [{}, 'exact'],
    [{ service: { type: 'Hub' } }, 'exact'],
    [{ 'service.type': 'Hub' }, 'exact'],
    [{ 'service.type': { $in: ['Hub', 'Mailbox'] } }, 'exact'],
    [{ service: { type: { $eq: 'Hub' } } }, 'exact'],
    [{ service: { type: { $ne: 'Hub' } } }, 'none'],
    [{ service: { type: 'Hub', priority: 1 } }, 'part'],
    [{ 'service.0.type': 'Hub' }, 'none'],
    [{ service: {} }, 'none'],
    [credential({ type: ['A', 'B'], subject: { email: { $exists: true } } }), 'exact'],
    [credential({ type: ['A'], subject: { email: { $exists: false } } }), 'part'],
    [credential([{ type: 'A' }, { type: 'B' }]), 'exact'],
    [credential([{ type: 'A' }, { 'subject.email': 'x' }]), 'part'],
    [credential({ $elemMatch: { type: 'A', issuer: 'did:ledger:x' } }), 'exact'],
    [credential({ $all: [{ $elemMatch: { type: 'A' } }] }), 'exact'],
    [credential({ $not: { type: 'A' } }), 'none'],
    [claim('x'), 'part'],
    [claim({ $regex: 'x' }), 'part'],
    [claim({ $gt: 1 }), 'part'],
    [claim({ $exists: true }), 'exact'],
    [claim(null), 'none'],
    [claim({ $in: ['x', null] }), 'none'],
    [claim({ $in: [] }), 'exact'],
    [{ publicKey: { controller: 'did:ledger:x' } }, 'exact'],
    [{ publicKey: { publicKeyBase58: 'x' } }, 'part'],
    [{ id: 'did:ledger:x' }, 'exact'],
    [{ expires: { $lt: '2028' } }, 'exact'],
    [{ expires: { $gt: '2028' } }, 'exact'],
    [{ expires: { $lt: '2028-02-15' } }, 'part'],
    [{ expires: '2028-02-15T00:00:00Z' }, 'part'],
    [{ expires: { $regex: '^2028' } }, 'none'],
    [{ $or: [{ 'service.type': 'Hub' }, { 'credential.type': 'A' }] }, 'exact'],
    [{ $or: [{ 'service.type': 'Hub' }, { nothing: 1 }] }, 'none'],
    [{ $and: [{ 'service.type': 'Hub' }, { nothing: 1 }] }, 'part'],
    [{ $nor: [{ 'service.type': 'Hub' }] }, 'none'],
    [{ proof: { type: 'ECDSAsecp256r1' } }, 'none'],
  ])('answers %j: %s', (condition, answer) => {
    const plan = planSearch(readCondition(condition))
    expect(plan.root === undefined ? 'none' : plan.exact ? 'exact' : 'part').toBe(answer)
    // What is not answered by the index is named.
    expect(plan.open.length > 0).toBe(answer !== 'exact')
  })

  it('names the parts that it does not answer by their paths', () => {
    const condition = { credential: { type: 'A', subject: { age: { $gt: 18 } } }, $and: [{ a: 1 }] }
    expect(planSearch(readCondition({ $and: [condition.$and[0], { credential: condition.credential }] })).open).toEqual(
      ['$and[0].a', '$and[1].credential.subject.age.$gt'],
    )
  })

  it('knows the one token whose number of documents is the answer', () => {
    const sole = (condition: Members) => soleToken(planSearch(readCondition(condition)))
    expect(sole({ service: { type: 'Hub' } })).toBe(tokenOf(tokenKind.serviceType, 'Hub'))
    expect(sole({})).toBe(tokenOf(tokenKind.everything, ''))
    expect(sole({ service: { type: 'Hub', x: 1 } })).toBe(undefined)
    expect(sole({ 'service.type': { $in: ['Hub', 'Mailbox'] } })).toBe(undefined)
  })

  it('asks for no more than 2,400 months', () => {
    const ranges = (count: number) =>
      Array.from({ length: count }, (_, i) => ({ expires: { $gte: `${2000 + i}`, $lt: `${2100 + i}` } }))
    expect(planSearch(readCondition({ $or: ranges(2) })).root).toBeDefined()
    expect(planSearch(readCondition({ $or: ranges(3) })).root).toBe(undefined)
  })
})

describe('PlanReader', () => {
  it('finds documents with more claims than the index has, whatever is asked of these', () => {
    const many = Object.fromEntries(Array.from({ length: 1100 }, (_, i) => [`n${i}`, i]))
    const documentWith = (id: string, credentialSubject: Members): Members => ({
      id,
      verifiableCredential: [{ type: ['A'], issuer: id, credentialSubject }],
      expires,
    })
    const rows = new PostingLists([
      [1, documentWith('did:ledger:few', { n0: 0 })],
      [700, documentWith('did:ledger:many', many)],
    ])
    const claim = (name: string, value: unknown) => ({ credential: { type: 'A', subject: { [name]: value } } })
    expect(found(claim('n0', { $exists: true }), rows)).toEqual({ sure: [1, 700], possible: [1, 700] })
    expect(found(claim('n1099', { $exists: true }), rows)).toEqual({ sure: [], possible: [700] })
    expect(found(claim('n300', 300), rows)).toEqual({ sure: [], possible: [700] })
    expect(found({ credential: { type: 'B', subject: { n1099: 1 } } }, rows)).toEqual({ sure: [], possible: [] })
    expect(chunkOf(700)).toBe(2)
  })

  it.each([
    ['any', (types: string[]) => ({ type: { $in: types } })],
    ['all', (types: string[]) => ({ type: { $all: types } })],
  ])('reads %s of many tokens in as many steps, each as long as the postings of one', (_, member) => {
    const types = Array.from({ length: 200 }, (_, i) => `T${i}`)
    const credential = { type: types, issuer: 'did:ledger:a', credentialSubject: {} }
    const rows = new PostingLists([[0, { id: 'did:ledger:a', expires, verifiableCredential: [credential] }]])
    const { root } = planSearch(readCondition({ credential: member(types) }))
    const reader = new PlanReader(root as DocumentPlan, rows)
    while (reader.next(0) === notRead);
    const steps = reader.read(0)
    let count = 0
    while (steps.next().done !== true) count++
    expect(count).toBeGreaterThanOrEqual(types.length)
  })
})
