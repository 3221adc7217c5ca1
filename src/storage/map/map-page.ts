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

/** The subtree over some slots of a page: all of them, or a half, quarter or eighth that begins at a multiple of its size. */
export function nodeOver(page: Page, from = 0, size = pageSlots): Slot | undefined {
  if (size === 1) return page[from]
  const half = size / 2
  const left = nodeOver(page, from, half)
  const right = nodeOver(page, from + half, half)
  if (left === undefined && (right === undefined || isLeaf(right))) return right
  if (right === undefined && left !== undefined && isLeaf(left)) return left
  return { hash: innerHash(hashOf(left), hashOf(right)) }
}
