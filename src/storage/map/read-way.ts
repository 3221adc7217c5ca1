import type { Hash } from '../../primitives/hash.js'
import { bitAt, type Leaf, type MapKey } from '../../proofs/map-tree.js'
import { damaged, type FrozenRows } from '../database.js'
import { type Key, keys, type MapPlace } from '../schema.js'
import { emptyPage, hashOf, isLeaf, type Levels, levelsOf, pageBits } from './map-page.js'
import { PageMemory } from './page-memory.js'

/** The way of a key through the map: what a proof is made of. */

/** Where a way ends, and what lies beside it. */
export interface Way {
  /** Siblings of the nodes on the way, the one below the root first. */
  readonly siblings: readonly Hash[]
  /** The leaf at the end, of this key or another; undefined: an empty place. */
  readonly end: Leaf | undefined
}

/** Reads the page at a place; undefined: there is none. */
export type ReadPage = (place: MapPlace) => Levels | undefined | Promise<Levels | undefined>

/** The way of a key in the map whose pages are read. */
export async function readWay(read: ReadPage, key: MapKey): Promise<Way> {
  const siblings: Hash[] = []
  let depth = 0
  let levels = (await read({ depth, key })) ?? levelsOf(emptyPage)
  for (;;) {
    let place = 0
    for (let level = 0; ; level++) {
      const node = levels[level]?.[place]
      if (node === undefined || isLeaf(node)) return { siblings, end: node }
      if (level === pageBits) break
      place = 2 * place + bitAt(key, depth++)
      siblings.push(hashOf(levels[level + 1]?.[place ^ 1]))
    }
    const below = await read({ depth, key })
    if (below === undefined) throw damaged(`a page of the map of DIDs at depth ${depth} is missing`)
    levels = below
  }
}

/**
 * Reads pages as they were after the block at a height: the first one kept from before a later block, else the one of now. `memory`
 * spares the hashes of pages that it knows.
 */
export function pagesAfter(
  rows: Pick<FrozenRows, 'get' | 'rows'>,
  height: number,
  memory: PageMemory = new PageMemory(),
): ReadPage {
  const read = (key: Key, row: Buffer | undefined) => {
    return row === undefined || row.length === 0 ? undefined : memory.levels(key, row)
  }
  // No later block: no page of before.
  if (rows.get(keys.mapRoot(height + 1)) === undefined) {
    return (place) => {
      const key = keys.mapPage(place)
      return read(key, rows.get(key))
    }
  }
  return async (place) => {
    const key = keys.mapPage(place)
    const range = { gt: keys.mapPageBefore(key, height), lte: keys.mapPageBefore(key, 0xffffffff) }
    const [later] = await rows.rows(range, { limit: 1 })
    return read(key, later === undefined ? rows.get(key) : later[1])
  }
}
