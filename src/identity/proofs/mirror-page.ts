import { concat, equalBytes, toHex } from '../../base/primitives/bytes.js'
import { Reader } from '../../base/primitives/codec.js'
import type { Hash } from '../../base/primitives/hash.js'
import { bitAt, emptyNode, innerHash, type Leaf, leafHash, type MapKey, sharePath } from './map-tree.js'

/** Pages of the map as files of a mirror: four levels each, named by the hash of the node over them (format 11.2). */

/** Bits of a key that a page decides, and its slots. */
const pageBits = 4
const slots = 1 << pageBits
const hashSize = 32
const kind = { empty: 0, leaf: 1, inner: 2 } as const

/** A subtree: one leaf, or an inner node by its hash. Undefined where there is no leaf. */
type Node = Leaf | { readonly hash: Hash }

/** The place of a page: its depth, a multiple of four, and a key below it. */
export interface PagePlace {
  readonly depth: number
  readonly key: MapKey
}

/** A page that a file holds, with all of its nodes. */
export interface MirrorPage {
  /** By their numbers: 1 is the node over all slots, 2n and 2n + 1 are the halves of n, 16 + i is slot i. */
  readonly nodes: readonly (Node | undefined)[]
  /** Hash of the node over all slots: the name of the file. */
  readonly hash: Hash
}

/** Way of a key through a page, to a leaf or an empty place, or to the node of the page below. */
export interface WayInPage {
  /** Siblings of the nodes on the way, the highest first. */
  readonly siblings: readonly Hash[]
  readonly end: Node | undefined
}

/** A page file: depth u8, the first bits of its keys in ⌈depth/8⌉ bytes with unused bits 0, then the page as its row has it. */
export function pageFile({ depth, key }: PagePlace, row: Uint8Array): Uint8Array {
  return concat(Uint8Array.of(depth), prefixOf(key, depth), row)
}

/**
 * The page in a file, at the place of which it is asked; undefined for bytes that are none: of another place, of another length, or with a
 * leaf that belongs elsewhere. Its name is the caller's to compare.
 */
export function readPageFile(bytes: Uint8Array, { depth, key }: PagePlace): MirrorPage | undefined {
  const prefix = prefixOf(key, depth)
  const start = 1 + prefix.length
  if (bytes[0] !== depth || !equalBytes(bytes.subarray(1, start), prefix) || bytes.length < start + 4) return undefined
  const reader = new Reader(bytes.subarray(start))
  const kinds = reader.u32()
  const nodes: (Node | undefined)[] = Array.from({ length: 2 * slots })
  for (let i = 0; i < slots; i++) {
    const is = (kinds >>> (2 * i)) & 3
    if (is > kind.inner || reader.remaining < sizeOf(is)) return undefined
    if (is === kind.leaf) nodes[slots + i] = { key: reader.hash(), value: reader.hash() }
    if (is === kind.inner) nodes[slots + i] = { hash: reader.hash() }
  }
  if (reader.remaining > 0 || !nodes.every((node, i) => isInSlot(node, i - slots, { depth, key }))) return undefined
  for (let number = slots - 1; number > 0; number--) nodes[number] = over(nodes[2 * number], nodes[2 * number + 1])
  return { nodes, hash: hashOf(nodes[1]) }
}

/** The way of a key through a page at a depth. */
export function wayInPage({ nodes }: MirrorPage, depth: number, key: MapKey): WayInPage {
  const siblings: Hash[] = []
  let number = 1
  for (let at = depth; number < slots && isInner(nodes[number]); at++) {
    number = 2 * number + bitAt(key, at)
    siblings.push(hashOf(nodes[number ^ 1]))
  }
  return { siblings, end: nodes[number] }
}

/** The name of the file of a page, by the hash of its node. */
export function pageName(hash: Hash): string {
  return named('map', hash)
}

/** A name below a folder, in the folder of its first byte. */
export function named(folder: string, hash: Uint8Array): string {
  const text = toHex(hash)
  return `${folder}/${text.slice(0, 2)}/${text}`
}

function isInner(node: Node | undefined): boolean {
  return node !== undefined && 'hash' in node
}

function sizeOf(is: number): number {
  return is === kind.leaf ? 2 * hashSize : is === kind.inner ? hashSize : 0
}

/** Whether a leaf may stand in a slot; another node says nothing of its keys. */
function isInSlot(node: Node | undefined, slot: number, { depth, key }: PagePlace): boolean {
  if (node === undefined || 'hash' in node) return true
  const nibble = ((node.key[depth >> 3] as number) >> (depth % 8 === 0 ? 4 : 0)) & 15
  return nibble === slot && sharePath(node.key, key, depth)
}

function over(left: Node | undefined, right: Node | undefined): Node | undefined {
  if (left === undefined) return right === undefined || !isInner(right) ? right : inner(left, right)
  return right === undefined && !isInner(left) ? left : inner(left, right)
}

function inner(left: Node | undefined, right: Node | undefined): Node {
  return { hash: innerHash(hashOf(left), hashOf(right)) }
}

function hashOf(node: Node | undefined): Hash {
  if (node === undefined) return emptyNode
  return 'hash' in node ? node.hash : leafHash(node)
}

/** The first bits of a key in whole bytes, unused bits 0. */
function prefixOf(key: MapKey, depth: number): Uint8Array {
  const prefix = Uint8Array.from(key.subarray(0, (depth + 7) >> 3))
  if (depth % 8 !== 0) prefix[depth >> 3] = (prefix[depth >> 3] as number) & 0xf0
  return prefix
}
