import type { Hash } from '../../primitives/hash.js'
import { bitAt, type Leaf, type MapKey } from '../../proofs/map-tree.js'
import { damaged } from '../database.js'
import type { FrozenRows } from '../database.js'
import { keys, type MapPlace } from '../schema.js'
import { decodePage, emptyPage, hashOf, isLeaf, nodeOver, type Page, pageSlots } from './map-page.js'

/** The way of a key through the map: what a proof is made of. */

/** Where a way ends, and what lies beside it. */
export interface Way {
  /** Siblings of the nodes on the way, the one below the root first. */
  readonly siblings: readonly Hash[]
  /** The leaf at the end, of this key or another; undefined: an empty place. */
  readonly end: Leaf | undefined
}

/** Reads the page at a place; undefined: there is none. */
export type ReadPage = (place: MapPlace) => Promise<Page | undefined>

/** The way of a key in the map whose pages are read. */
export async function readWay(read: ReadPage, key: MapKey): Promise<Way> {
  const siblings: Hash[] = []
  let depth = 0
  let page: Page = (await read({ depth, key })) ?? emptyPage
  for (;;) {
    let from = 0
    for (let size = pageSlots; ;) {
      const node = nodeOver(page, from, size)
      if (node === undefined || isLeaf(node)) return { siblings, end: node }
      if (size === 1) break
      size /= 2
      const isRight = bitAt(key, depth++) === 1
      siblings.push(hashOf(nodeOver(page, isRight ? from : from + size, size)))
      if (isRight) from += size
    }
    const below = await read({ depth, key })
    if (below === undefined) throw damaged(`a page of the map of DIDs at depth ${depth} is missing`)
    page = below
  }
}

/** Reads pages as they were after the block at a height: the first one kept from before a later block, else the one of now. */
export function pagesAfter(rows: FrozenRows, height: number): ReadPage {
  return async (place) => {
    const key = keys.mapPage(place)
    const range = { gt: keys.mapPageBefore(key, height), lte: keys.mapPageBefore(key, 0xffffffff) }
    const [later] = await rows.rows(range, { limit: 1 })
    const row = later === undefined ? rows.get(key) : later[1]
    return row === undefined || row.length === 0 ? undefined : decodePage(row)
  }
}
