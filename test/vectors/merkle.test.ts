import { describe, expect, it } from 'vitest'
import { concat, hex, toHex } from '../../src/base/primitives/bytes.js'
import { sha256d } from '../../src/base/primitives/hash.js'
import { foldBranch, merkleRoot } from '../../src/base/primitives/merkle.js'
import { openVectors } from '../support/builders/vectors.js'

interface MerkleVector {
  n: number
  leavesInternal: string[]
  rootInternal: string
}

const file = openVectors<{ vectors: MerkleVector[] }>('merkle.json', { descriptive: ['about'] })

describe('merkle vectors', () => {
  it('are six', () => {
    expect(file.data.vectors.map(({ n }) => n)).toEqual([1, 2, 3, 4, 5, 7])
  })

  for (const vector of file.data.vectors) {
    const leaves = vector.leavesInternal.map(hex)

    it(`${vector.n} leaves have their root`, () => {
      expect(leaves).toHaveLength(vector.n)
      expect(toHex(merkleRoot(leaves))).toBe(vector.rootInternal)
    })

    it(`each of ${vector.n} leaves leads to it through its branch`, () => {
      for (const [index, leaf] of leaves.entries()) {
        expect(toHex(foldBranch(leaf, branchOf(leaves, index), index))).toBe(vector.rootInternal)
      }
    })
  }

  it('leave no member unread', () => file.finish())
})

function branchOf(leaves: readonly Uint8Array[], index: number): Uint8Array[] {
  if (leaves.length === 1) return []
  const even = leaves.length % 2 === 0 ? leaves : [...leaves, leaves.at(-1) as Uint8Array]
  const above = even.flatMap((left, i) => (i % 2 === 0 ? [sha256d(concat(left, even[i + 1] as Uint8Array))] : []))
  return [even[index ^ 1] as Uint8Array, ...branchOf(above, index >> 1)]
}
