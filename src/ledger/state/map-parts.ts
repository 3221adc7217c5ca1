import { equalBytes } from '../../base/primitives/bytes.js'
import { type Hash, zeroHash } from '../../base/primitives/hash.js'
import { bitAt, emptyNode, innerHash, type Leaf, leafHash, sharePath } from '../../identity/proofs/map-tree.js'

/** Subtrees of the map of all DIDs: each by itself, and folded to the root. */

/** A subtree: nothing, one leaf, which may stand further up, or an inner node. */
export interface Subtree {
  readonly kind: 0 | 1 | 2
  readonly hash: Hash
}

/** Bytes of a subtree: kind u8, hash 32. */
export const subtreeSize = 33

const nothing: Subtree = { kind: 0, hash: zeroHash }

export function subtreeBytes({ kind, hash }: Subtree): Uint8Array {
  const bytes = new Uint8Array(subtreeSize)
  bytes[0] = kind
  bytes.set(hash, 1)
  return bytes
}

export function isSubtree(bytes: Uint8Array, subtree: Subtree): boolean {
  return equalBytes(bytes, subtreeBytes(subtree))
}

/** The subtree of leaves that share the first `depth` bits of their keys, in the order of these. */
export function subtreeOf(leaves: readonly Leaf[], depth: number): Subtree {
  const [first] = leaves
  if (first === undefined) return nothing
  if (leaves.length === 1) return { kind: 1, hash: leafHash(first) }
  const left = leaves.findIndex(({ key }) => bitAt(key, depth) === 1)
  const split = left === -1 ? leaves.length : left
  return joined(subtreeOf(leaves.slice(0, split), depth + 1), subtreeOf(leaves.slice(split), depth + 1))
}

/** The subtree over two that are side by side. */
function joined(left: Subtree, right: Subtree): Subtree {
  if (left.kind + right.kind < 2) return left.kind === 1 ? left : right
  return { kind: 2, hash: innerHash(left.hash, right.hash) }
}

/** The map root over 2^depth subtrees in their order, from their bytes; undefined where a kind is none. */
export function rootOfSubtrees(bytes: Uint8Array): Hash | undefined {
  let level: Subtree[] = []
  for (let at = 0; at < bytes.length; at += subtreeSize) {
    const kind = bytes[at] as number
    if (kind > 2) return undefined
    level.push({ kind: kind as Subtree['kind'], hash: bytes.subarray(at + 1, at + subtreeSize) })
  }
  if (level.some(({ kind, hash }) => kind === 0 && !equalBytes(hash, zeroHash))) return undefined
  while (level.length > 1) {
    level = level.flatMap((left, i) => (i % 2 === 0 ? [joined(left, level[i + 1] as Subtree)] : []))
  }
  return level[0]?.kind === 0 ? emptyNode : level[0]?.hash
}

/** The number of the subtree at a depth that a key is in. */
export function prefixOf(key: Uint8Array, depth: number): number {
  return depth === 0 ? 0 : Buffer.from(key.buffer, key.byteOffset, 4).readUInt32BE(0) >>> (32 - depth)
}

/** Whether keys ascend. */
export function ascend(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) < 0 && !sharePath(a, b, 256)
}
