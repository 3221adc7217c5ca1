import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  bothDocuments,
  bothPostings,
  countDocuments,
  documentsOf,
  eitherDocuments,
  eitherPostings,
  exceptDocuments,
  hasDocument,
  noDocuments,
  oneDocument,
  ordinalsOf,
  PostingUnion,
  postingsWithin,
} from '../../../../src/identity/did-index/chunk-sets.js'

const postings = fc.uniqueArray(fc.nat(0xffff), { maxLength: 400 }).map((all) => Uint16Array.from(all).sort())
const ascending = (all: Iterable<number>) => [...new Set(all)].sort((a, b) => a - b)
const ordinals = (all: Uint16Array) => ascending([...all].map((one) => one >> 8))

describe('sets within a chunk', () => {
  it('of documents join as sets do', () => {
    fc.assert(
      fc.property(postings, postings, (a, b) => {
        const [x, y] = [documentsOf(a), documentsOf(b)]
        const [inA, inB] = [ordinals(a), ordinals(b)]
        expect([...ordinalsOf(x)]).toEqual(inA)
        expect(countDocuments(x)).toBe(inA.length)
        expect([...ordinalsOf(bothDocuments(x, y))]).toEqual(inA.filter((one) => inB.includes(one)))
        expect([...ordinalsOf(eitherDocuments(x, y))]).toEqual(ascending([...inA, ...inB]))
        expect([...ordinalsOf(exceptDocuments(x, y))]).toEqual(inA.filter((one) => !inB.includes(one)))
        expect(inA.every((one) => hasDocument(x, one))).toBe(true)
        expect(inB.filter((one) => hasDocument(x, one))).toEqual(inB.filter((one) => inA.includes(one)))
      }),
    )
  })

  it('of postings join as sets do', () => {
    fc.assert(
      fc.property(postings, postings, (a, b) => {
        expect([...bothPostings(a, b)]).toEqual([...a].filter((one) => b.includes(one)))
        expect([...eitherPostings(a, b)]).toEqual(ascending([...a, ...b]))
        const within = documentsOf(b)
        expect([...postingsWithin(a, within)]).toEqual([...a].filter((one) => hasDocument(within, one >> 8)))
      }),
    )
  })

  it('of postings unite, however many there are', () => {
    fc.assert(
      fc.property(fc.array(postings, { maxLength: 5 }), (lists) => {
        const union = new PostingUnion()
        for (const list of lists) union.add(list)
        expect([...union.postings]).toEqual(ascending(lists.flatMap((list) => [...list])))
      }),
    )
  })

  it('know ordinals by their place in the chunk', () => {
    expect([...ordinalsOf(oneDocument(511))]).toEqual([255])
    expect(hasDocument(oneDocument(31), 31)).toBe(true)
    expect(hasDocument(oneDocument(31), 63)).toBe(false)
    expect(countDocuments(noDocuments())).toBe(0)
  })
})
