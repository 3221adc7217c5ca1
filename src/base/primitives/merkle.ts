import { allocate, copyOf, mapKey, putMapKey } from './bytes.js'
import { type Hash, hashPair, sha256dKey, zeroHash } from './hash.js'

/**
 * A merkle tree that grows leaf by leaf: pairs are hashed with sha256d, an odd last one with itself, and a single leaf is its own
 * root (format 5.9). Leaves are 32 bytes in internal order.
 */
export class MerkleTree {
  /** At each level the node that waits for a right sibling, and room for that: they are hashed where they stand. */
  readonly #pairs: Uint8Array[] = []
  /** A node waits at the levels of its set bits. */
  #leaves = 0

  /** Adds a leaf by its `mapKey`. */
  add(leaf: string): void {
    let node = leaf
    let level = 0
    for (; this.#waitsAt(level); level++) {
      const pair = this.#pairs[level] as Uint8Array
      putMapKey(pair, 32, node)
      node = sha256dKey(pair)
    }
    putMapKey((this.#pairs[level] ??= allocate(64)), 0, node)
    this.#leaves++
  }

  #waitsAt(level: number): boolean {
    return ((this.#leaves >>> level) & 1) === 1
  }

  /** The root over the leaves so far; the zero hash when there are none. */
  get root(): Hash {
    // The last node of every level but the top one. A waiting node below is its left sibling; without one it pairs with itself.
    let last: Hash | undefined
    for (const [level, pair] of this.#pairs.entries()) {
      const left = this.#waitsAt(level) ? pair.subarray(0, 32) : undefined
      if (level === this.#pairs.length - 1 && last === undefined) return copyOf(left as Hash)
      if (last === undefined && left === undefined) continue
      last = hashPair(left ?? (last as Hash), last ?? (left as Hash))
    }
    return last ?? zeroHash
  }
}

/** The root over complete leaves. */
export function merkleRoot(leaves: readonly Hash[]): Hash {
  const tree = new MerkleTree()
  for (const leaf of leaves) tree.add(mapKey(leaf))
  return tree.root
}

/**
 * The branch from the first leaf of a tree to its root. It does not depend on that leaf: `others` has the rest. One step per hash, so that
 * a long list can be divided.
 */
export function* firstBranchSteps(others: readonly Hash[]): Generator<undefined, Hash[]> {
  const branch: Hash[] = []
  // Each level without its first node, so that the first entry is that node's sibling.
  for (let level = others; level.length > 0;) {
    branch.push(level[0] as Hash)
    const above: Hash[] = []
    for (let i = 1; i < level.length; i += 2) {
      const left = level[i] as Hash
      above.push(hashPair(left, level[i + 1] ?? left))
      yield
    }
    level = above
  }
  return branch
}

/** The root by a leaf and its branch; a set bit i of `index` means that node i is on the left (format 5.6). */
export function foldBranch(leaf: Hash, branch: readonly Hash[], index: number): Hash {
  let position = index
  return branch.reduce((accumulated, node) => {
    const isRight = (position & 1) === 1
    position >>>= 1
    return isRight ? hashPair(node, accumulated) : hashPair(accumulated, node)
  }, leaf)
}
