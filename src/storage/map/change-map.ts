import { InvariantError } from '../../errors/rule-error.js'
import { compareBytes, equalBytes } from '../../primitives/bytes.js'
import type { Hash } from '../../primitives/hash.js'
import { eachSteps, type Steps } from '../../primitives/steps.js'
import type { Leaf, MapKey } from '../../proofs/map-tree.js'
import type { MapPlace } from '../schema.js'
import {
  emptyPage,
  hashOf,
  isLeaf,
  levelsOf,
  type Levels,
  levelsWith,
  pageBits,
  type Slot,
  slotOf,
  topOf,
} from './map-page.js'

/** Puts leaves into the map and takes them out, page by page. */

/** A leaf as it is to be; without a value it is taken out. */
export interface LeafChange {
  readonly key: MapKey
  readonly value: Uint8Array | undefined
}

/** Changes handled in one step. */
const changesAtOnce = 64

/** Where pages are read and written. */
export interface Pages {
  get(place: MapPlace): Levels | undefined
  /** Undefined: the page is not needed any more. */
  put(place: MapPlace, levels: Levels | undefined): void
}

/** Changes in the order of their keys, each key once. */
export function inKeyOrder(changes: Iterable<LeafChange>): LeafChange[] {
  return [...changes].sort((a, b) => compareBytes(a.key, b.key))
}

/** {@link inKeyOrder} in steps, by way of the first bytes: keys are hashes, so that these part them evenly. */
export function* inKeyOrderSteps(changes: Iterable<LeafChange>): Steps<LeafChange[]> {
  const parts = Array.from({ length: 256 }, (): LeafChange[] => [])
  yield* eachSteps(changes, (change) => parts[change.key[0] as number]?.push(change), changesAtOnce)
  const sorted: LeafChange[] = []
  for (const part of parts) {
    for (const change of inKeyOrder(part)) sorted.push(change)
    yield
  }
  return sorted
}

/** Applies changes {@link inKeyOrder} and returns the map root; one step for each page. */
export function* changeMapSteps(pages: Pages, changes: readonly LeafChange[]): Steps<Hash> {
  if (changes.length === 0) return mapRootIn(pages)
  return hashOf(yield* changeBelow(pages, 0, changes))
}

/** The root of the map. */
export function mapRootIn(pages: Pick<Pages, 'get'>): Hash {
  return hashOf(topOf(pages.get(rootPlace) ?? emptyLevels))
}

const emptyLevels = levelsOf(emptyPage)
const rootPlace: MapPlace = { depth: 0, key: new Uint8Array(32) }

/** Applies changes below the node at a depth. Their keys share the bits before. */
function* changeBelow(pages: Pages, depth: number, changes: readonly LeafChange[]): Steps<Slot | undefined> {
  const place = { depth, key: (changes[0] as LeafChange).key }
  const before = pages.get(place)
  const page = [...(before?.[pageBits] ?? emptyPage)]
  const changed: number[] = []
  for (let start = 0; start < changes.length;) {
    const index = slotOf((changes[start] as LeafChange).key, depth)
    let end = start + 1
    while (end < changes.length && slotOf((changes[end] as LeafChange).key, depth) === index) end++
    page[index] = yield* changeSlot(pages, depth, page[index], changes.slice(start, end))
    changed.push(index)
    start = end
  }
  yield
  const [only, second] = page.filter((slot) => slot !== undefined)
  const isNeeded = only !== undefined && (depth === 0 || second !== undefined || !isLeaf(only))
  if (!isNeeded) {
    pages.put(place, undefined)
    return only
  }
  const levels = before === undefined ? levelsOf(page) : levelsWith(before, page, changed)
  pages.put(place, levels)
  return topOf(levels)
}

function* changeSlot(
  pages: Pages,
  depth: number,
  slot: Slot | undefined,
  changes: readonly LeafChange[],
): Steps<Slot | undefined> {
  const below = depth + pageBits
  if (slot !== undefined && !isLeaf(slot)) return yield* changeBelow(pages, below, changes)
  const isChanged = slot !== undefined && changes.some(({ key }) => equalBytes(key, slot.key))
  const leaves = [...(slot === undefined || isChanged ? [] : [slot]), ...changes].filter(
    (leaf): leaf is Leaf => leaf.value !== undefined,
  )
  if (leaves.length < 2) return leaves[0]
  if (below >= 8 * 32) throw new InvariantError('two leaves of one key')
  // No page is there yet.
  return yield* changeBelow(pages, below, inKeyOrder(leaves))
}
