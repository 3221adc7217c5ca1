import type { Hash } from '../../../../base/primitives/hash.js'
import { bitAt, type Leaf, type MapKey } from '../../../../identity/proofs/map-tree.js'
import { damaged } from '../../failure.js'
import type { RowReader } from '../row-reader.js'
import { type Key, type MapPlace, tables } from '../tables.js'
import { emptyPage, isLeaf, MapPage, pageSlots, topNode } from './map-page.js'
import { mapRootAfter } from './map-rows.js'
import { PageMemory } from './page-memory.js'

/** The way of a key through the map: what a proof is made of. */

/** Way of a key through the map: its end, and the siblings beside it. */
export interface Way {
  /** Siblings of the nodes on the way, the one below the root first. */
  readonly siblings: readonly Hash[]
  /** The leaf at the end, of this key or another; undefined: an empty place. */
  readonly end: Leaf | undefined
}

/** Reads the page at a place, `hash` being what the page above has of it; undefined: there is none. */
export type ReadPage = (place: MapPlace, hash?: Hash) => MapPage | undefined | Promise<MapPage | undefined>

/** Source of pages: the rows of one state. */
interface PageRows extends Pick<RowReader, 'get'> {
  /** The first row of the table of a key whose key is not below that one. */
  seek(key: Key): Promise<readonly [Key, Uint8Array] | undefined>
}

/** The way of a key in the map whose pages are read. */
export async function readWay(read: ReadPage, key: MapKey): Promise<Way> {
  const siblings: Hash[] = []
  let depth = 0
  let page = (await read({ depth, key })) ?? emptyPage
  for (;;) {
    let number = topNode
    let node = page.node(number)
    while (node !== undefined && !isLeaf(node) && number < pageSlots) {
      number = 2 * number + bitAt(key, depth++)
      siblings.push(page.hash(number ^ 1))
      node = page.node(number)
    }
    if (node === undefined || isLeaf(node)) return { siblings, end: node }
    const below = await read({ depth, key }, node.hash)
    if (below === undefined) throw damaged(`a page of the map of DIDs at depth ${depth} is missing`)
    page = below
  }
}

/**
 * Reads pages as they were after the block at a height: the first one kept from before a later block, else the one of now. `memory`
 * spares reading pages that are in it, and gets those that are read.
 */
export function pagesAfter(rows: PageRows, height: number, memory: PageMemory = new PageMemory()): ReadPage {
  const root = mapRootAfter(rows, height)
  // No later block: no page of before.
  const isNow = rows.get(tables.mapRoot.key(height + 1)) === undefined
  return async (place, hash = root) => {
    const key = tables.mapPage.key(place)
    const known = hash && memory.find(key, hash)
    if (known !== undefined) return known
    const page = pageOf(isNow ? rows.get(key) : await rowAfter(rows, height, key))
    if (page !== undefined) memory.keep(key, page)
    return page
  }
}

/** The row of a page after the block at a height. */
async function rowAfter(rows: PageRows, height: number, key: Key): Promise<Uint8Array | undefined> {
  const first = tables.mapPageBefore.key(key, height + 1)
  const later = await rows.seek(first)
  const isOfPage = later?.[0].length === first.length && later[0].subarray(0, -4).equals(first.subarray(0, -4))
  return isOfPage ? later[1] : rows.get(key)
}

/** The page in a row; none in an empty one. */
function pageOf(row: Uint8Array | undefined): MapPage | undefined {
  return row === undefined || row.length === 0 ? undefined : new MapPage(row)
}
