import type { Steps } from '../../../../base/primitives/steps.js'
import { type Leaf, type MapKey, sharePath } from '../../../../identity/proofs/map-tree.js'
import { InvariantError } from '../../../../base/errors/rule-error.js'
import { changePage, type Pages, putPage } from './change-map.js'
import { emptyPage, pageBits, type SlotChange, slotOf } from './map-page.js'

/** Depth of the subtrees whose leaves are in memory together: of a hundred million leaves each has some 24,000. */
const groupDepth = 12

/** Makes a map from its leaves in the order of their keys. Each page is put once, as soon as no further leaf can be below it; none is read. */
export class OrderedMap {
  readonly #pages: Pages
  /** Leaves of the subtree that is being read. */
  #leaves: Leaf[] = []
  /** Slots so far of the page above it at each depth, from the root on. */
  readonly #above: SlotChange[][] = Array.from({ length: groupDepth / pageBits }, () => [])

  constructor(put: Pages['put']) {
    this.#pages = { get: noPage, put }
  }

  /** Whether a leaf begins another subtree: {@link closeSteps} comes before it. */
  begins(key: MapKey): boolean {
    const [first] = this.#leaves
    return first !== undefined && !sharePath(first.key, key, groupDepth)
  }

  add(leaf: Leaf): void {
    this.#leaves.push(leaf)
  }

  /** Puts the pages that are whole; `next`: the key that follows, undefined behind the last leaf. */
  *closeSteps(next?: MapKey): Steps {
    const leaves = this.#leaves
    const [first] = leaves
    if (first === undefined) return
    this.#leaves = []
    let slot = yield* changePage(this.#pages, groupDepth, emptyPage, leaves)
    for (let depth = groupDepth - pageBits; depth >= 0; depth -= pageBits) {
      const slots = this.#above[depth / pageBits] as SlotChange[]
      slots.push({ index: slotOf(first.key, depth), slot })
      if (next !== undefined && sharePath(first.key, next, depth)) return
      slot = putPage(this.#pages, { depth, key: first.key }, emptyPage.with(slots.splice(0)))
    }
  }
}

function noPage(): never {
  throw new InvariantError('a map that is being made has no page below its leaves')
}
