import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sha256 } from '../../../../src/base/primitives/hash.js'
import { emptyHistory, type Entry, entryBytes, extendHistory } from '../../../../src/identity/proofs/history.js'
import { mayBegin } from '../../../../src/identity/proofs/history-prefix.js'
import type { ProvedHistory } from '../../../../src/identity/proofs/map-proof.js'
import { runs } from '../../../support/builders/arbitraries.js'

/** An operation in block 2 * (place + 1): there is a block between each two. */
const entryAt = (place: number, name = 'a'): Entry => ({
  ...{ operation: place === 0 ? 1 : 2, height: 2 * (place + 1), time: 1_000 + place },
  ...{ txid: sha256(`${name} ${place}`), payloadHash: sha256(`payload ${place}`) },
})
const entries = Array.from({ length: 6 }, (_, place) => entryAt(place))

/** What is proved of the history as of a block: entries from some place on, before which only their digest is known. */
function historyAt(height: number, from = 0, of: readonly Entry[] = entries) {
  const all = of.filter((entry) => entry.height <= height)
  if (all.length === 0) return { height, history: undefined }
  const first = Math.min(from, all.length)
  const base = all.slice(0, first).map(entryBytes).reduce(extendHistory, emptyHistory)
  return { height, history: { state: 1, count: all.length, base, entries: all.slice(first) } as ProvedHistory }
}

const height = fc.integer({ min: 1, max: 13 })
const place = fc.nat(6)

describe('the history as of a lower block', () => {
  it('may begin that as of a higher one, whatever entries are shown of both', () => {
    fc.assert(
      fc.property(height, height, place, place, (a, b, one, other) => {
        expect(mayBegin(historyAt(Math.min(a, b), one), historyAt(Math.max(a, b), other))).toBe(true)
      }),
      runs,
    )
  })

  it('may not where an entry of it is another, and all of that one and those before are shown or digested', () => {
    fc.assert(
      fc.property(height, height, fc.nat(5), place, (a, b, changed, one) => {
        const [low, high] = [Math.min(a, b), Math.max(a, b)]
        const others = entries.map((entry, i) => (i === changed ? entryAt(i, 'b') : entry))
        expect(mayBegin(historyAt(low, one), historyAt(high, 0, others))).toBe(entryAt(changed).height > low)
      }),
      runs,
    )
  })

  it('may not where it is longer, or lacks what was there already', () => {
    expect(mayBegin(historyAt(8), { height: 9, history: undefined })).toBe(false)
    expect(mayBegin({ height: 1, history: undefined }, { height: 9, history: undefined })).toBe(true)
    expect(mayBegin(historyAt(8), { ...historyAt(6), height: 9 })).toBe(false)
    // The fourth entry is of block 8.
    expect(mayBegin({ ...historyAt(6), height: 7 }, historyAt(9))).toBe(true)
    expect(mayBegin({ ...historyAt(6), height: 8 }, historyAt(9))).toBe(false)
    expect(mayBegin({ height: 2, history: undefined }, historyAt(9))).toBe(false)
  })
})
