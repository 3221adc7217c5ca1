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

/** Parent of two subtrees that are siblings; a single leaf beside an empty one moves up unchanged. */
function joined(left: Subtree, right: Subtree): Subtree {
  if (left.kind + right.kind < 2) return left.kind === 1 ? left : right
  return { kind: 2, hash: innerHash(left.hash, right.hash) }
}

/** The map root over 2^depth subtrees in their order, from their bytes; undefined where a kind is none. */
export function rootOfSubtrees(bytes: Uint8Array): Hash | undefined {
  const root = folded(bytes)
  return root?.kind === 0 ? emptyNode : root?.hash
}

/** Folds one half after the other: of a million subtrees, which a peer may send, a few are objects at a time. */
function folded(bytes: Uint8Array): Subtree | undefined {
  if (bytes.length <= subtreeSize) return readSubtree(bytes)
  const half = bytes.length / 2
  const left = folded(bytes.subarray(0, half))
  const right = left && folded(bytes.subarray(half))
  return left && right && joined(left, right)
}

function readSubtree(bytes: Uint8Array): Subtree | undefined {
  const [kind = 3] = bytes
  const hash = bytes.subarray(1)
  const isOne = kind <= 2 && (kind > 0 || equalBytes(hash, zeroHash))
  return isOne ? { kind: kind as Subtree['kind'], hash } : undefined
}

/** The number of the subtree at a depth that a key is in. */
export function prefixOf(key: Uint8Array, depth: number): number {
  return depth === 0 ? 0 : Buffer.from(key.buffer, key.byteOffset, 4).readUInt32BE(0) >>> (32 - depth)
}

/** Whether keys ascend. */
export function ascend(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) < 0 && !sharePath(a, b, 256)
}
