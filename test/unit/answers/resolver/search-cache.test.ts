import { describe, expect, it } from 'vitest'
import { SearchCache } from '../../../../src/answers/resolver/search-cache.js'

const [tip, other] = [Uint8Array.of(1), Uint8Array.of(2)]

describe('what is known of searches', () => {
  it('is kept for one tip', () => {
    const cache = new SearchCache()
    cache.at(tip, 'a').total = 5
    expect(cache.at(Uint8Array.of(1), 'a').total).toBe(5)
    expect(cache.at(tip, 'b').total).toBe(undefined)
    expect(cache.at(other, 'a').total).toBe(undefined)
    expect(cache.at(tip, 'a').total).toBe(undefined)
  })

  it('is bounded: the least recently used conditions go', () => {
    const cache = new SearchCache()
    for (let i = 0; i < 1024; i++) cache.at(tip, `${i}`).total = i
    cache.at(tip, '0')
    cache.at(tip, 'one more')
    expect(cache.at(tip, '0').total).toBe(0)
    expect(cache.at(tip, '1').total).toBe(undefined)
  })

  it('has the last beginning of a page that is not too far, and the latest 32', () => {
    const known = new SearchCache().at(tip, 'a')
    expect(known.before(7)).toEqual({ skip: 0, ordinal: 0 })
    known.note({ skip: 10, ordinal: 99 })
    known.note({ skip: 20, ordinal: 300 })
    expect(known.before(9)).toEqual({ skip: 0, ordinal: 0 })
    expect(known.before(10)).toEqual({ skip: 10, ordinal: 99 })
    expect(known.before(1000)).toEqual({ skip: 20, ordinal: 300 })
    for (let i = 100; i < 132; i++) known.note({ skip: i, ordinal: 10 * i })
    expect(known.before(50)).toEqual({ skip: 0, ordinal: 0 })
    expect(known.before(131)).toEqual({ skip: 131, ordinal: 1310 })
  })
})
