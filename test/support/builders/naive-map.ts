import type { Hash } from '../../../src/base/primitives/hash.js'
import { bitAt, emptyNode, innerHash, type Leaf, leafHash } from '../../../src/identity/proofs/map-tree.js'

/** The root over leaves, straight from the definition of the tree. */
export function naiveRoot(leaves: readonly Leaf[], depth = 0): Hash {
  const [only, second] = leaves
  if (only === undefined) return emptyNode
  if (second === undefined) return leafHash(only)
  const side = (bit: number) =>
    naiveRoot(
      leaves.filter(({ key }) => bitAt(key, depth) === bit),
      depth + 1,
    )
  return innerHash(side(0), side(1))
}
