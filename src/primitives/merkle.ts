import { concat } from './bytes.js'
import { type Hash, sha256d, zeroHash } from './hash.js'

/**
 * Merkle root over 32-byte leaves in internal order: pairs are hashed with sha256d, an odd last one with itself, and a
 * single leaf is its own root (format 5.9). No leaves give the zero hash.
 */
export function merkleRoot(leaves: readonly Hash[]): Hash {
  let level = [...leaves]
  while (level.length > 1) {
    const next: Hash[] = []
    for (let i = 0; i < level.length; i += 2) {
      const left = level[i] as Hash
      next.push(sha256d(concat(left, level[i + 1] ?? left)))
    }
    level = next
  }
  return level[0] ?? zeroHash
}

/** The root that a leaf and its branch lead to; bit i of `index` says whether node i stands left (format 5.6). */
export function foldBranch(leaf: Hash, branch: readonly Hash[], index: number): Hash {
  let position = index
  return branch.reduce((accumulated, node) => {
    const pair = position & 1 ? concat(node, accumulated) : concat(accumulated, node)
    position >>>= 1
    return sha256d(pair)
  }, leaf)
}
