import { Reader, Writer } from '../../../base/primitives/codec.js'
import type { Hash } from '../../../base/primitives/hash.js'
import type { MapKey } from '../../../identity/proofs/map-tree.js'
import { type Codec, type Field, type Key, raw, table, u32 } from './layout.js'
import { byHeight, byPage } from './shipped.js'

/** Rows of the map of DIDs. */

/** A page of the map of DIDs: it holds what lies below the first `depth` bits of a key. */
export interface MapPlace {
  /** A multiple of 4, from 0 to 252. */
  readonly depth: number
  readonly key: MapKey
}

/** The map of DIDs after a block. */
export interface MapRootRow {
  readonly root: Hash
  /** Keys of the pages that the block changed, in table mapPage; none once these can no longer be put back. */
  readonly pages: readonly Key[]
}

const place: Field<MapPlace, Uint8Array> = {
  drawing: 'depth u8 (0, 4 … 252), the first bits of a key in ⌈depth/8⌉ bytes, unused bits 0',
  size: ({ depth }) => 1 + ((depth + 7) >> 3),
  write: (into, { depth, key }, at) => {
    const end = at + ((depth + 7) >> 3)
    into[at] = depth
    into.set(key.subarray(0, end - at), at + 1)
    if (depth % 8 !== 0) into[end] = (into[end] as number) & 0xf0
    return end + 1
  },
  read: (from, at, length) => from.subarray(at, at + length),
}

/** The key of a page with its table byte, which is left out. */
const page: Field<Key> = {
  drawing: 'key of the page',
  size: (key) => key.length - 1,
  write: (into, key, at) => at + key.copy(into, at, 1),
  read: (from, at, length) => keyOfPage(from.subarray(at, at + length)),
}

/** A page by its key without table byte. */
function keyOfPage(fields: Uint8Array): Key {
  return Buffer.concat([Buffer.of(pages.number), fields])
}

/** The keys are those of the pages, without table byte, each 1 byte of depth and ⌈depth/8⌉ bytes. */
const rootAndPages: Codec<MapRootRow> = {
  // A call takes only so many arguments: a block may change tens of thousands of pages.
  encode: ({ root, pages }) => {
    const writer = new Writer(32 + pages.length * 8).bytes(root)
    for (const key of pages) writer.bytes(key.subarray(1))
    return writer.finish()
  },
  decode: (row) => ({ root: row.subarray(0, 32), pages: [...pagesOfMapRoot(row)] }),
}

/** The pages in a row of table mapRoot, one after the other: a block may change tens of thousands. */
export function* pagesOfMapRoot(row: Uint8Array): Generator<Key, void> {
  const reader = new Reader(row)
  reader.hash()
  while (reader.remaining > 0) {
    const at = reader.offset
    reader.take(Math.ceil(reader.u8() / 8))
    yield keyOfPage(row.subarray(at, reader.offset))
  }
}

const pages = table(0x1a, [place], raw(), byPage)

export const mapTables = {
  mapPage: pages,
  /** The page before the block at a height; empty: it did not exist. */
  mapPageBefore: table(0x1b, [page, u32('height')], raw(), byPage),
  mapRoot: table(0x1c, [u32('height')], rootAndPages, byHeight),
}
