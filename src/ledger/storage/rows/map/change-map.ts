import { InvariantError } from '../../../../base/errors/rule-error.js'
import { compareBytes, equalBytes } from '../../../../base/primitives/bytes.js'
import type { Hash } from '../../../../base/primitives/hash.js'
import { eachSteps, type Steps } from '../../../../base/primitives/steps.js'
import type { Leaf, MapKey } from '../../../../identity/proofs/map-tree.js'
import { damaged } from '../../failure.js'
import type { MapPlace } from '../tables.js'
import {
  emptyPage,
  hashOf,
  isLeaf,
  type MapPage,
  pageBits,
  type Slot,
  type SlotChange,
  slotOf,
  topNode,
} from './map-page.js'

/** Puts leaves into the map and takes them out, page by page. */

/** A leaf as it is to be; without a value it is taken out. */
export interface LeafChange {
  readonly key: MapKey
  readonly value: Uint8Array | undefined
}

/** Changes handled in one step. */
const changesAtOnce = 64

/** Source and target of pages. */
export interface Pages {
  /** `hash`: what the page above has in the slot of this one, if it is known. */
  get(place: MapPlace, hash?: Hash): MapPage | undefined
  /** Undefined: the page is not needed any more. */
  put(place: MapPlace, page: MapPage | undefined): void
}

/** Changes in the order of their keys, each key once. */
export function inKeyOrder(changes: Iterable<LeafChange>): LeafChange[] {
  return [...changes].sort((a, b) => compareBytes(a.key, b.key))
}

/** {@link inKeyOrder} in steps, by way of the first bytes: keys are hashes, so that these part them evenly. */
export function* inKeyOrderSteps(changes: Iterable<LeafChange>): Steps<LeafChange[]> {
  const parts: (LeafChange[] | undefined)[] = []
  yield* eachSteps(changes, (change) => (parts[change.key[0] as number] ??= []).push(change), changesAtOnce)
  const sorted: LeafChange[] = []
  // Most blocks change few leaves, or none.
  for (const part of parts) {
    if (part === undefined) continue
    for (const change of inKeyOrder(part)) sorted.push(change)
    yield
  }
  return sorted
}

/** Applies changes {@link inKeyOrder} and returns the map root; one step for each page. */
export function* changeMapSteps(pages: Pages, changes: readonly LeafChange[]): Steps<Hash> {
  if (changes.length === 0) return mapRootIn(pages)
  return hashOf(yield* changePage(pages, 0, pages.get(rootPlace) ?? emptyPage, changes))
}

/** The root of the map. */
export function mapRootIn(pages: Pick<Pages, 'get'>): Hash {
  return (pages.get(rootPlace) ?? emptyPage).hash(topNode)
}

const rootPlace: MapPlace = { depth: 0, key: new Uint8Array(32) }

/** Changes of leaves below one slot. */
export interface SlotLeaves {
  readonly index: number
  readonly changes: readonly LeafChange[]
}

/** Changes in the order of their keys, by the slot in the page at a depth over all of them. */
export function bySlot(changes: readonly LeafChange[], depth: number): SlotLeaves[] {
  const parts: SlotLeaves[] = []
  for (let start = 0; start < changes.length;) {
    const index = slotOf((changes[start] as LeafChange).key, depth)
    let end = start + 1
    while (end < changes.length && slotOf((changes[end] as LeafChange).key, depth) === index) end++
    parts.push({ index, changes: changes.slice(start, end) })
    start = end
  }
  return parts
}

/** Applies changes below the node at a depth, to its page as it is. Their keys share the bits before. */
export function* changePage(
  pages: Pages,
  depth: number,
  before: MapPage,
  changes: readonly LeafChange[],
): Steps<Slot | undefined> {
  const changed: SlotChange[] = []
  for (const part of bySlot(changes, depth)) {
    const slot = yield* changeSlot(pages, depth + pageBits, before.slot(part.index), part.changes)
    changed.push({ index: part.index, slot })
  }
  yield
  return putPage(pages, { depth, key: (changes[0] as LeafChange).key }, before.with(changed))
}

/** Puts a page where it is needed; returns what the page above it has of it. */
export function putPage(pages: Pick<Pages, 'put'>, place: MapPlace, page: MapPage): Slot | undefined {
  const top = page.node(topNode)
  const isNeeded = top !== undefined && (place.depth === 0 || !isLeaf(top))
  pages.put(place, isNeeded ? page : undefined)
  return top
}

/** Applies changes to what is in a slot. `depth`: of the page below it. */
function* changeSlot(
  pages: Pages,
  depth: number,
  slot: Slot | undefined,
  changes: readonly LeafChange[],
): Steps<Slot | undefined> {
  if (slot !== undefined && !isLeaf(slot)) {
    const page = pages.get({ depth, key: (changes[0] as LeafChange).key }, slot.hash)
    if (page === undefined) throw damaged(`a page of the map of DIDs at depth ${depth} is missing`)
    return yield* changePage(pages, depth, page, changes)
  }
  const isChanged = slot !== undefined && changes.some(({ key }) => equalBytes(key, slot.key))
  const leaves = [...(slot === undefined || isChanged ? [] : [slot]), ...changes].filter(
    (leaf): leaf is Leaf => leaf.value !== undefined,
  )
  if (leaves.length < 2) return leaves[0]
  if (depth >= 8 * 32) throw new InvariantError('two leaves of one key')
  return yield* changePage(pages, depth, emptyPage, inKeyOrder(leaves))
}
