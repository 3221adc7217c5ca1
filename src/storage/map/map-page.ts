import { asBuffer } from '../../primitives/bytes.js'
import { Reader, Writer } from '../../primitives/codec.js'
import type { Hash } from '../../primitives/hash.js'
import { emptyNode, innerHash, type Leaf, leafHash, type MapKey } from '../../proofs/map-tree.js'

/**
 * Four levels of the map in one row: a slot for each value of the next four bits of a key.
 *
 *   kinds u32         slot i in bits 2i and 2i + 1: 0 empty, 1 leaf, 2 inner node
 *   per slot 0 … 15   leaf: key 32, value 32; inner node: its hash 32
 *
 * A leaf alone below a slot stands in it. Where two or more are below, the slot has the hash of the node four levels down, and the
 * page of that node exists.
 */

/** Bits of a key that a page decides. */
export const pageBits = 4
/** Slots of a page. */
export const pageSlots = 1 << pageBits

/** A subtree: one leaf, or an inner node by its hash. Undefined where there is no leaf. */
export type Slot = Leaf | { readonly hash: Hash }

/** {@link pageSlots} slots. */
export type Page = readonly (Slot | undefined)[]

export const emptyPage: Page = Array.from({ length: pageSlots }, () => undefined)

const kind = { empty: 0, leaf: 1, inner: 2 } as const

export function isLeaf(slot: Slot): slot is Leaf {
  return 'key' in slot
}

/** The slot of a key in the page at a depth that is a multiple of {@link pageBits}. */
export function slotOf(key: MapKey, depth: number): number {
  const byte = key[depth >> 3] as number
  return depth % 8 === 0 ? byte >> 4 : byte & 0x0f
}

export function encodePage(page: Page): Uint8Array {
  let kinds = 0
  let size = 4
  for (const [i, slot] of page.entries()) {
    if (slot === undefined) continue
    kinds += (isLeaf(slot) ? kind.leaf : kind.inner) * 4 ** i
    size += isLeaf(slot) ? 64 : 32
  }
  const writer = new Writer(size).u32(kinds)
  for (const slot of page) {
    if (slot === undefined) continue
    if (isLeaf(slot)) writer.bytes(slot.key).bytes(slot.value)
    else writer.bytes(slot.hash)
  }
  return writer.finish()
}

/** The slots are views into `bytes`. */
export function decodePage(bytes: Uint8Array): Page {
  const reader = new Reader(asBuffer(bytes))
  const kinds = reader.u32()
  return emptyPage.map((_, i) => {
    const slotKind = (kinds >>> (2 * i)) & 3
    if (slotKind === kind.empty) return undefined
    return slotKind === kind.leaf ? { key: reader.take(32), value: reader.take(32) } : { hash: reader.hash() }
  })
}

/** The hash of a subtree. */
export function hashOf(slot: Slot | undefined): Hash {
  if (slot === undefined) return emptyNode
  return isLeaf(slot) ? leafHash(slot) : slot.hash
}

/** The subtrees at the five depths of a page, from its node down to its slots: 1, 2, 4, 8 and 16 of them. */
export type Levels = readonly (readonly (Slot | undefined)[])[]

/** Inner nodes of a page at most, and bytes of their hashes one after the other. */
const innerNodes = pageSlots - 1
export const innerBytes = innerNodes * 32

/** Node `index` of a level as one number: those of the levels above come first. */
function numberOf(level: number, index: number): number {
  return 2 ** level - 1 + index
}

/** The levels of a page. `known`: hashes of its inner nodes, as {@link innerHashes} gives them. */
export function levelsOf(page: Page, known?: Buffer): Levels {
  const levels: Page[] = [page]
  for (let level = pageBits - 1; level >= 0; level--) {
    const below = levels[0] as Page
    const above: (Slot | undefined)[] = []
    for (let i = 0; i < 2 ** level; i++) {
      const at = 32 * numberOf(level, i)
      above.push(joined(below[2 * i], below[2 * i + 1], known && (() => known.subarray(at, at + 32))))
    }
    levels.unshift(above)
  }
  return levels
}

/** The levels of a page that differs in some slots from that of other levels. */
export function levelsWith(before: Levels, page: Page, changed: Iterable<number>): Levels {
  const levels: Page[] = [page]
  let touched = new Set(changed)
  for (let level = pageBits - 1; level >= 0; level--) {
    const below = levels[0] as Page
    const above = [...(before[level] as Page)]
    touched = new Set([...touched].map((i) => i >> 1))
    for (const i of touched) above[i] = joined(below[2 * i], below[2 * i + 1])
    levels.unshift(above)
  }
  return levels
}

/** The hashes of inner nodes, {@link innerBytes} in all; what is no inner node leaves its place as it is. */
export function innerHashes(levels: Levels): Buffer {
  const hashes = Buffer.allocUnsafeSlow(innerBytes)
  for (let level = 0; level < pageBits; level++) {
    for (const [i, node] of (levels[level] as Page).entries()) {
      if (node !== undefined && !isLeaf(node)) hashes.set(node.hash, 32 * numberOf(level, i))
    }
  }
  return hashes
}

/** The subtree of two halves: where one leaf is in both together, that leaf. */
function joined(left: Slot | undefined, right: Slot | undefined, known?: () => Hash): Slot | undefined {
  if (left === undefined && (right === undefined || isLeaf(right))) return right
  if (right === undefined && left !== undefined && isLeaf(left)) return left
  return { hash: known === undefined ? innerHash(hashOf(left), hashOf(right)) : known() }
}

/** The node over all slots. */
export function topOf(levels: Levels): Slot | undefined {
  return levels[0]?.[0]
}
