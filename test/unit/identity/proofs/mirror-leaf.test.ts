import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { joined } from '../../../../src/base/primitives/bytes.js'
import { emptyHistory } from '../../../../src/identity/proofs/history.js'
import {
  entriesInLeaf,
  entriesShown,
  leafFile,
  leafName,
  type MirrorLeaf,
  readLeafFile,
  valueBefore,
  valueOfLeaf,
} from '../../../../src/identity/proofs/mirror-leaf.js'

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })

const leaves: fc.Arbitrary<MirrorLeaf> = fc
  .record({
    state: fc.constantFrom(1, 2),
    count: fc.oneof(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 1, max: 2 ** 32 - 1 })),
  })
  .chain(({ state, count }) => {
    const shown = entriesShown({ state, count })
    const base: fc.Arbitrary<Uint8Array> = shown < count ? bytes(32) : fc.constant(emptyHistory)
    return fc.record({
      state: fc.constant(state),
      count: fc.constant(count),
      key: bytes(32),
      base,
      entries: fc.array(bytes(73), { minLength: shown, maxLength: shown }),
      transactions: fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: Math.min(2, shown) }),
    })
  }) as fc.Arbitrary<MirrorLeaf>

/** With every text of bytes as numbers: what is read may be in a memory of another kind. */
function plain(leaf: MirrorLeaf | undefined): object | undefined {
  if (leaf === undefined) return undefined
  const { state, count, key, base, entries, transactions } = leaf
  return { state, count, bytes: [key, base, ...entries, ...transactions].map((one) => [...one]) }
}

describe('leaves as files', () => {
  it('are read as they were written', () => {
    fc.assert(
      fc.property(leaves, (leaf) => {
        const read = readLeafFile(leafFile(leaf))
        expect(plain(read)).toEqual(plain(leaf))
        expect(leafName(valueOfLeaf(read as MirrorLeaf))).toBe(leafName(valueOfLeaf(leaf)))
      }),
      { numRuns: 60 },
    )
  })

  it('are none when cut at any byte, or with any more', () => {
    fc.assert(
      fc.property(leaves, fc.uint8Array({ minLength: 1, maxLength: 3 }), (leaf, more) => {
        const file = leafFile(leaf)
        const step = Math.max(1, file.length >> 8)
        for (let length = 0; length < file.length; length += length < 80 || length > file.length - 80 ? 1 : step) {
          expect(readLeafFile(file.slice(0, length))).toBeUndefined()
        }
        expect(readLeafFile(Uint8Array.of(...file, ...more))).toBeUndefined()
      }),
      { numRuns: 20 },
    )
  })

  it('are none of another state, without an operation, or with more transactions than they can need', () => {
    const leaf = {
      state: 1,
      count: 3,
      key: new Uint8Array(32),
      base: emptyHistory,
      entries: [1, 2, 3].map(() => new Uint8Array(73)),
    }
    const file = (changes: object) => leafFile({ ...leaf, transactions: [], ...changes } as MirrorLeaf)
    expect(readLeafFile(file({}))).toBeDefined()
    for (const state of [0, 3, 255]) expect(readLeafFile(file({ state }))).toBeUndefined()
    expect(readLeafFile(file({ count: 0, entries: [] }))).toBeUndefined()
    const some = (count: number) => Array.from({ length: count }, () => new Uint8Array(1))
    expect(readLeafFile(file({ transactions: some(2) }))).toBeDefined()
    expect(readLeafFile(file({ transactions: some(3) }))).toBeUndefined()
    expect(readLeafFile(file({ count: 1, entries: [new Uint8Array(73)], transactions: some(2) }))).toBeUndefined()
  })

  it('with lengths that no memory has are none at once', () => {
    const head = joined(Uint8Array.of(1), 1, new Uint8Array(32), new Uint8Array(73), Uint8Array.of(1))
    expect(readLeafFile(joined(head, 2 ** 32 - 1))).toBeUndefined()
    expect(readLeafFile(joined(Uint8Array.of(1), 2 ** 32 - 1))).toBeUndefined()
  })

  it('show at most so many entries, and at least one that holds a document', () => {
    for (let count = 1; count <= 3 * entriesInLeaf + 2; count++) {
      const shown = entriesShown({ state: 1, count })
      expect(shown).toBe(count % entriesInLeaf === 0 ? entriesInLeaf : count % entriesInLeaf)
      const ended = entriesShown({ state: 2, count })
      expect(ended).toBe(count === 1 ? 1 : entriesShown({ state: 1, count: count - 1 }) + 1)
    }
  })

  it('lead to the leaf before, whose file is whole', () => {
    fc.assert(
      fc.property(leaves, (leaf) => {
        const before = valueBefore(leaf)
        expect(before === undefined).toBe(leaf.entries.length === leaf.count)
        if (before === undefined) return
        expect((leaf.count - leaf.entries.length) % entriesInLeaf).toBe(0)
      }),
      { numRuns: 60 },
    )
  })
})
