import { mapKey } from '../../../../base/primitives/bytes.js'
import type { Hash } from '../../../../base/primitives/hash.js'
import type { Key } from '../tables.js'
import { type MapPage, topNode } from './map-page.js'

/** The greatest depth of pages that are kept: 4 369 of them. A version takes 1.5 kB with its hashes and its place here. */
const deepestKept = 12

/**
 * Versions of a page: before and after the block that is tried, and one of another block or of a past height of which proofs are
 * wanted. All of all pages are 20 MB. The chain has a memory and the prover another, since proofs of past heights must not drive
 * out what blocks need: 40 MB in all on a chain with so many DIDs.
 */
const versionsKept = 3

interface KeptPage {
  /** Hash of the node over the page, by {@link mapKey}. */
  readonly hash: string
  readonly page: MapPage
}

/**
 * The upper pages of the map, which most blocks change and most proofs pass: to read one takes longer than to hash it. A page is found
 * by the hash that the page above has of it, so that it is right for every state with this hash.
 */
export class PageMemory {
  /** By the key of the page; the one asked for last comes first. */
  readonly #kept = new Map<string, readonly KeptPage[]>()

  find(key: Key, hash: Hash): MapPage | undefined {
    const versions = isKept(key) ? this.#kept.get(mapKey(key)) : undefined
    const id = mapKey(hash)
    const found = versions?.find((version) => version.hash === id)
    if (found !== undefined && found !== versions?.[0]) this.#putFirst(mapKey(key), found)
    return found?.page
  }

  /** Keeps a copy of a page with all its hashes, if it is an upper one. */
  keep(key: Key, page: MapPage): void {
    if (isKept(key)) this.#putFirst(mapKey(key), { hash: mapKey(page.hash(topNode)), page: page.copy() })
  }

  #putFirst(place: string, version: KeptPage): void {
    const others = this.#kept.get(place)?.filter(({ hash }) => hash !== version.hash) ?? []
    this.#kept.set(place, [version, ...others].slice(0, versionsKept))
  }
}

function isKept(key: Key): boolean {
  return (key[1] as number) <= deepestKept
}
