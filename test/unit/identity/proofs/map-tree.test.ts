import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { concat } from '../../../../src/base/primitives/bytes.js'
import { sha256 } from '../../../../src/base/primitives/hash.js'
import { didRoot, innerHash, leafHash } from '../../../../src/identity/proofs/map-tree.js'
import { hash, runs } from '../../../support/builders/arbitraries.js'

describe('two hashes', () => {
  it('are a leaf, an inner node or a root by the byte before them, so that none is taken for another', () => {
    fc.assert(
      fc.property(hash, hash, (first, second) => {
        const made = [leafHash({ key: first, value: second }), innerHash(first, second), didRoot(first, second)]
        expect(made).toEqual([0, 1, 2].map((tag) => sha256(concat(Uint8Array.of(tag), first, second))))
      }),
      runs,
    )
  })
})
