import { LruMap } from '../../base/runtime/lru-map.js'
import type { Ancestry } from '../consensus/context.js'
import { equalBytes, mapKey } from '../../base/primitives/bytes.js'
import { Reader } from '../../base/primitives/codec.js'
import type { Hash } from '../../base/primitives/hash.js'
import { Header } from '../../base/primitives/header.js'
import { damaged } from '../storage/failure.js'
import type { RowReader } from '../storage/rows/row-reader.js'
import { type HeaderRecord, tables } from '../storage/rows/tables.js'

/**
 * About 700 bytes each.
 * @tuning count: headers in memory
 */
const cacheEntries = 4096

/** A header with the record of its block. */
export interface KnownHeader extends Omit<HeaderRecord, 'header'> {
  readonly header: Header
}

/** Headers by hash and, on the active chain, by height, through a bounded cache. */
export class HeaderIndex {
  readonly #rows: RowReader
  readonly #cache = new LruMap<KnownHeader>(cacheEntries)

  constructor(rows: RowReader) {
    this.#rows = rows
  }

  get(hash: Hash): KnownHeader | undefined {
    const id = mapKey(hash)
    const cached = this.#cache.peek(id)
    if (cached !== undefined) return cached
    const record = tables.header.get(this.#rows, hash)
    if (record === undefined) return undefined
    const known = { ...record, header: Header.read(new Reader(record.header)) }
    this.#cache.set(id, known)
    return known
  }

  /** Whether nothing of a block need be fetched: it is stored, or known to be invalid. */
  isSettled(hash: Hash): boolean {
    const status = this.get(hash)?.status
    return status !== undefined && status !== 'header'
  }

  /** Removes headers whose records changed from the cache. */
  forget(hashes: readonly Hash[]): void {
    for (const hash of hashes) this.#cache.delete(mapKey(hash))
  }

  /** Clears the cache. */
  clear(): void {
    this.#cache.clear()
  }

  /** Hash of the active block at a height; undefined above the tip. */
  activeHash(height: number): Hash | undefined {
    return this.#rows.get(tables.active.key(height))
  }

  active(height: number): KnownHeader | undefined {
    const hash = this.activeHash(height)
    return hash === undefined ? undefined : this.get(hash)
  }

  /**
   * The active block at the height of a header with the same parent and another hash. Undefined if there is none, as for a
   * header of another chain, or of a branch with a lower fork point.
   */
  rivalOf({ height, hash, previous }: Header): KnownHeader | undefined {
    const own = height === 0 ? undefined : this.active(height)
    const rival = own !== undefined && equalBytes(own.header.previous, previous) && !equalBytes(own.header.hash, hash)
    return rival ? own : undefined
  }

  /** A header that must exist. */
  known(hash: Hash): KnownHeader {
    const known = this.get(hash)
    if (known === undefined) throw damaged('a header that must be known is gone')
    return known
  }

  /** The active block at a height that must have one. */
  activeAt(height: number): KnownHeader {
    const known = this.active(height)
    if (known === undefined) throw damaged(`the active chain has no block at height ${height}`)
    return known
  }

  /** Ancestors of a block on top of `parent`, on any branch. */
  ancestry(parent: KnownHeader): Ancestry {
    return { parent: parent.header, at: (height) => this.#ancestor(parent, height).header }
  }

  #ancestor(from: KnownHeader, height: number): KnownHeader {
    let known = from
    while (known.header.height > height) {
      const next = known.status === 'active' ? this.active(height) : this.get(known.header.previous)
      if (next === undefined) throw damaged(`an ancestor of ${from.header.id} at height ${height} is gone`)
      known = next
    }
    return known
  }
}

/** Ancestors of a block on top of a run of headers that are not stored; the run starts on top of `base`. */
export function runAncestry(headers: HeaderIndex, base: KnownHeader, run: readonly Header[]): Ancestry {
  const below = headers.ancestry(base)
  const first = base.header.height + 1
  return {
    parent: run.at(-1) ?? base.header,
    at: (height) => (height >= first ? (run[height - first] as Header) : below.at(height)),
  }
}
