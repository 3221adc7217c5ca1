import { equalBytes, mapKey } from '../../primitives/bytes.js'
import type { Key } from '../schema.js'
import { decodePage, innerHashes, type Levels, levelsOf } from './map-page.js'

/** The greatest depth of pages that are kept: 4 369 of them, each about a kilobyte. */
const deepestKept = 12

/** Versions of a page: before and after the block that is tried. */
const versionsKept = 2

interface KeptPage {
  readonly row: Buffer
  readonly inner: Buffer
}

/**
 * Inner nodes of the upper pages of the map, which most blocks change and most proofs pass: to compute them again costs 15 hashes.
 * What is kept belongs to the bytes of a row, so that it is right for every state that has this row.
 */
export class PageMemory {
  /** Newest first, by the key of the page. */
  readonly #kept = new Map<string, readonly KeptPage[]>()

  /** The levels of the page in a row. */
  levels(key: Key, row: Uint8Array): Levels {
    const kept = this.#kept.get(mapKey(key))?.find((version) => equalBytes(version.row, row))
    if (kept !== undefined) return levelsOf(decodePage(row), kept.inner)
    const levels = levelsOf(decodePage(row))
    this.keep(key, row, levels)
    return levels
  }

  /** Keeps the levels of the page in a row, if it is an upper one. */
  keep(key: Key, row: Uint8Array, levels: Levels): void {
    if ((key[1] as number) > deepestKept) return
    const id = mapKey(key)
    const own = Buffer.allocUnsafeSlow(row.length)
    own.set(row)
    const others = this.#kept.get(id)?.filter((version) => !equalBytes(version.row, row)) ?? []
    this.#kept.set(id, [{ row: own, inner: innerHashes(levels) }, ...others].slice(0, versionsKept))
  }
}
