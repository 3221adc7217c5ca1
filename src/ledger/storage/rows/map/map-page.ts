import { asBuffer } from '../../../../base/primitives/bytes.js'
import type { Hash } from '../../../../base/primitives/hash.js'
import { emptyNode, innerHash, type Leaf, leafHash, type MapKey } from '../../../../identity/proofs/map-tree.js'
import { damaged } from '../../failure.js'

/**
 * Four levels of the map in one row: a slot for each value of the next four bits of a key.
 *
 *   kinds u32         slot i in bits 2i and 2i + 1: 0 empty, 1 leaf, 2 inner node
 *   per slot 0 … 15   leaf: key 32, value 32; inner node: its hash 32
 *
 * A leaf alone below a slot stands in it. Where two or more are below, the slot has the hash of the node four levels down, and the
 * page of that node exists.
 *
 * Nodes of a page have numbers: 1 is the node over all slots, 2n and 2n + 1 are the halves of n, 16 + i is slot i.
 */

/** Bits of a key that a page decides. */
export const pageBits = 4
/** Slots of a page. */
export const pageSlots = 1 << pageBits
/** The node over all slots. */
export const topNode = 1

/** A subtree: one leaf, or an inner node by its hash. Undefined where there is no leaf. */
export type Slot = Leaf | { readonly hash: Hash }

/** New content of a slot. */
export interface SlotChange {
  readonly index: number
  readonly slot: Slot | undefined
}

const kind = { empty: 0, leaf: 1, inner: 2 } as const
const kindsSize = 4
const hashSize = 32
/** Bytes of a slot by its kind. */
const slotSizes = [0, 2 * hashSize, hashSize]
/** Bytes of the hashes of all inner nodes. */
const hashesSize = (pageSlots - topNode) * hashSize
/** The bits of a row's kinds that stand for a leaf. */
const leafKinds = 0x55555555

export function isLeaf(slot: Slot): slot is Leaf {
  return 'key' in slot
}

/** The slot of a key in the page at a depth that is a multiple of {@link pageBits}. */
export function slotOf(key: MapKey, depth: number): number {
  const byte = key[depth >> 3] as number
  return depth % 8 === 0 ? byte >> 4 : byte & 0x0f
}

/** The hash of a subtree. */
export function hashOf(slot: Slot | undefined): Hash {
  if (slot === undefined) return emptyNode
  return isLeaf(slot) ? leafHash(slot) : slot.hash
}

/**
 * A page as the bytes of its row, which nothing may change: slots are views into them. Hashes of inner nodes are computed when they are
 * asked for, and kept.
 */
export class MapPage {
  readonly row: Buffer
  readonly #kinds: number
  /** Hashes of inner nodes, one after the other by their numbers. */
  #hashes: Buffer | undefined
  /** Bit n: the hash of node n is there. */
  #known = 0

  /** The page in a row; a damage where it is none. */
  constructor(row: Uint8Array) {
    this.row = asBuffer(row)
    this.#kinds = row.length < kindsSize ? 0 : this.row.readInt32LE()
    if (offsetOf(this.#kinds, pageSlots) !== row.length) throw damaged('a page of the map of DIDs has a wrong length')
  }

  /** The same page in memory of its own, with the hashes that are known. */
  copy(): MapPage {
    const own = Buffer.allocUnsafeSlow(this.row.length + hashesSize)
    own.set(this.row)
    const page = new MapPage(own.subarray(0, this.row.length))
    page.#hashes = own.subarray(this.row.length)
    if (this.#hashes !== undefined) page.#hashes.set(this.#hashes)
    page.#known = this.#known
    return page
  }

  /** The page with other contents of some slots, which are in ascending order. */
  with(changes: readonly SlotChange[]): MapPage {
    const kinds = kindsWith(this.#kinds, changes)
    const row = Buffer.allocUnsafe(offsetOf(kinds, pageSlots))
    row.writeInt32LE(kinds)
    let [from, to] = [kindsSize, kindsSize]
    for (const { index, slot } of changes) {
      to += this.row.copy(row, to, from, offsetOf(this.#kinds, index))
      for (const part of partsOf(slot)) {
        row.set(part, to)
        to += part.length
      }
      from = offsetOf(this.#kinds, index + 1)
    }
    this.row.copy(row, to, from)
    const page = new MapPage(row)
    page.#inherit(this, changes)
    return page
  }

  /** The subtree at a node. */
  node(number: number): Slot | undefined {
    const kinds = kindsBelow(this.#kinds, number)
    if (kinds === 0) return undefined
    return isOneLeaf(kinds) ? this.#leafBelow(number) : { hash: this.hash(number) }
  }

  /** The subtree in a slot. */
  slot(index: number): Slot | undefined {
    return this.node(pageSlots + index)
  }

  /** The hash of the subtree at a node. */
  hash(number: number): Hash {
    const kinds = kindsBelow(this.#kinds, number)
    if (kinds === 0) return emptyNode
    if (isOneLeaf(kinds)) return leafHash(this.#leafBelow(number))
    if (number >= pageSlots) return this.#bytes(offsetOf(this.#kinds, number - pageSlots))
    const at = placeOf(number)
    this.#hashes ??= Buffer.allocUnsafe(hashesSize)
    if ((this.#known & (1 << number)) === 0) {
      this.#hashes.set(innerHash(this.hash(2 * number), this.hash(2 * number + 1)), at)
      this.#known |= 1 << number
    }
    return this.#hashes.subarray(at, at + hashSize)
  }

  /** The one leaf below a node. */
  #leafBelow(number: number): Leaf {
    const up = levelsBelow(number)
    const first = (number << up) - pageSlots
    const index = first + ((31 - Math.clz32(kindsBelow(this.#kinds, number))) >> 1)
    const at = offsetOf(this.#kinds, index)
    return { key: this.#bytes(at), value: this.#bytes(at + hashSize) }
  }

  #bytes(at: number): Buffer {
    return this.row.subarray(at, at + hashSize)
  }

  /** Takes over known hashes of another page, but those above changed slots. */
  #inherit(before: MapPage, changes: readonly SlotChange[]): void {
    if (before.#hashes === undefined) return
    let touched = 0
    for (const { index } of changes) {
      for (let number = (pageSlots + index) >> 1; number >= topNode; number >>= 1) touched |= 1 << number
    }
    this.#hashes = Buffer.allocUnsafe(hashesSize)
    this.#hashes.set(before.#hashes)
    this.#known = before.#known & ~touched
  }
}

export const emptyPage = new MapPage(new Uint8Array(kindsSize))

/** Offset of the hash of an inner node among those of all. */
function placeOf(number: number): number {
  return hashSize * (number - topNode)
}

/** Levels from a node down to the slots. */
function levelsBelow(number: number): number {
  return Math.clz32(number) - (31 - pageBits)
}

/** The kinds of the slots below a node, those of the first one in the lowest bits. */
function kindsBelow(kinds: number, number: number): number {
  const up = levelsBelow(number)
  if (up === pageBits) return kinds
  return (kinds >>> (2 * ((number << up) - pageSlots))) & ((1 << (2 << up)) - 1)
}

function isOneLeaf(kinds: number): boolean {
  return (kinds & (kinds - 1)) === 0 && (kinds & leafKinds) !== 0
}

/** Offset of a slot in a row. For the slot after the last: the length of the row; not a number if a kind is unknown. */
function offsetOf(kinds: number, index: number): number {
  let offset = kindsSize
  for (let i = 0; i < index; i++) offset += slotSizes[(kinds >>> (2 * i)) & 3] ?? NaN
  return offset
}

function kindsWith(kinds: number, changes: readonly SlotChange[]): number {
  return changes.reduce((all, { index, slot }) => (all & ~(3 << (2 * index))) | (kindOf(slot) << (2 * index)), kinds)
}

function kindOf(slot: Slot | undefined): number {
  if (slot === undefined) return kind.empty
  return isLeaf(slot) ? kind.leaf : kind.inner
}

/** The bytes of a slot. */
function partsOf(slot: Slot | undefined): Uint8Array[] {
  if (slot === undefined) return []
  return isLeaf(slot) ? [slot.key, slot.value] : [slot.hash]
}
