import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { concat, mapKey, toHex } from '../../../../src/base/primitives/bytes.js'
import { type Hash, sha256d, zeroHash } from '../../../../src/base/primitives/hash.js'
import { firstBranchSteps, foldBranch, merkleRoot, MerkleTree } from '../../../../src/base/primitives/merkle.js'
import { hash, runs, u32 } from '../../../support/builders/arbitraries.js'

/** By recursion over halves of a power of two. */
function slowRoot(leaves: readonly Hash[]): Hash {
  if (leaves.length === 1) return leaves[0] as Hash
  const padded = leaves.length % 2 === 0 ? leaves : [...leaves, leaves.at(-1) as Hash]
  const half = padded.length / 2
  return slowRoot(
    Array.from({ length: half }, (_, i) => sha256d(concat(padded[2 * i] as Hash, padded[2 * i + 1] as Hash))),
  )
}

describe('merkle roots', () => {
  it('agree with a slow one, and leave the leaves alone', () => {
    fc.assert(
      fc.property(fc.array(hash, { minLength: 1, maxLength: 20 }), (leaves) => {
        const before = leaves.map(toHex)
        expect(toHex(merkleRoot(leaves))).toBe(toHex(slowRoot(leaves)))
        expect(leaves.map(toHex)).toEqual(before)
      }),
      runs,
    )
  })

  it('are those of the leaves so far, asked for at any time, and stay what they were', () => {
    fc.assert(
      fc.property(fc.array(hash, { minLength: 1, maxLength: 20 }), (leaves) => {
        const tree = new MerkleTree()
        const roots = leaves.map((leaf) => {
          tree.add(mapKey(leaf))
          return tree.root
        })
        expect(roots.map(toHex)).toEqual(leaves.map((_, i) => toHex(slowRoot(leaves.slice(0, i + 1)))))
      }),
      runs,
    )
  })

  it('are zero without leaves, and the leaf itself for one', () => {
    expect(toHex(merkleRoot([]))).toBe(toHex(zeroHash))
    expect(toHex(merkleRoot([sha256d(zeroHash)]))).toBe(toHex(sha256d(zeroHash)))
  })

  it('are the same with the odd last leaf repeated, which is why ids in a block must differ', () => {
    const [a, b, c] = [1, 2, 3].map((n) => sha256d(Uint8Array.of(n))) as [Hash, Hash, Hash]
    expect(toHex(merkleRoot([a, b, c]))).toBe(toHex(merkleRoot([a, b, c, c])))
  })
})

describe('branches', () => {
  it('put the node left where the bit is set', () => {
    const [leaf, n0, n1] = [1, 2, 3].map((n) => sha256d(Uint8Array.of(n))) as [Hash, Hash, Hash]
    const pair = (left: Hash, right: Hash) => sha256d(concat(left, right))
    expect(toHex(foldBranch(leaf, [n0, n1], 0))).toBe(toHex(pair(pair(leaf, n0), n1)))
    expect(toHex(foldBranch(leaf, [n0, n1], 1))).toBe(toHex(pair(pair(n0, leaf), n1)))
    expect(toHex(foldBranch(leaf, [n0, n1], 2))).toBe(toHex(pair(n1, pair(leaf, n0))))
    expect(toHex(foldBranch(leaf, [], 5))).toBe(toHex(leaf))
  })

  it('of the first leaf lead to the root, whatever that leaf is', () => {
    const branchOf = (others: readonly Hash[]) => {
      const steps = firstBranchSteps(others)
      for (;;) {
        const { done, value } = steps.next()
        if (done === true) return value
      }
    }
    fc.assert(
      fc.property(hash, fc.array(hash, { maxLength: 40 }), (first, others) => {
        return toHex(foldBranch(first, branchOf(others), 0)) === toHex(merkleRoot([first, ...others]))
      }),
      runs,
    )
  })

  it('read all 32 bits of an index', () => {
    fc.assert(
      fc.property(hash, u32, (leaf, index) => {
        const branch = Array.from({ length: 32 }, (_, i) => sha256d(Uint8Array.of(i)))
        let expected = leaf
        for (const [i, node] of branch.entries()) {
          const left = Math.floor(index / 2 ** i) % 2 === 1
          expected = sha256d(left ? concat(node, expected) : concat(expected, node))
        }
        return toHex(foldBranch(leaf, branch, index)) === toHex(expected)
      }),
      runs,
    )
  })
})
