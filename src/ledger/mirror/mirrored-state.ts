import { concat, equalBytes, mapKey } from '../../base/primitives/bytes.js'
import type { ProgramHash } from '../../base/primitives/address.js'
import type { Hash } from '../../base/primitives/hash.js'
import { Yielder } from '../../base/runtime/cooperative.js'
import { emptyHistory, entryBytes, stateAfter } from '../../identity/proofs/history.js'
import { keptEntries } from '../../identity/proofs/kept-entries.js'
import { didMapKey, type MapKey } from '../../identity/proofs/map-tree.js'
import {
  entriesInLeaf,
  entriesShown,
  leafFile,
  leafName,
  type MirrorLeaf,
  valueOfLeaf,
} from '../../identity/proofs/mirror-leaf.js'
import { pageName } from '../../identity/proofs/mirror-page.js'
import { damaged } from '../storage/failure.js'
import { didText, firstHad, operationsUpTo, transactionAt } from '../storage/rows/did-reader.js'
import { isLeaf, type MapPage, pageBits, pageSlots, topNode } from '../storage/rows/map/map-page.js'
import { mapRootAfter } from '../storage/rows/map/map-rows.js'
import { pagesAfter, type ReadPage } from '../storage/rows/map/read-way.js'
import { pagesOfMapRoot } from '../storage/rows/map-tables.js'
import { present } from '../storage/rows/row-reader.js'
import { type DidOperationRow, type Key, tables } from '../storage/rows/tables.js'
import type { FrozenRows } from '../storage/stored-rows.js'
import type { MirrorFile } from './mirror-store.js'

/** Pages and leaves of the map after a block as files, from a snapshot of the rows that later blocks may have added to. */

/** @tuning count: the most blocks that are mirrored by what they changed; behind more of them all of the map is compared */
export const blocksByChange = 288

/** A leaf that blocks changed: of a DID, or of a credential and a signer by its key in the map. */
export type ChangedLeaf = { readonly did: ProgramHash } | { readonly credential: MapKey }

/** Changes of the map by blocks. */
export interface MapChanges {
  /** Keys of pages. */
  readonly pages: readonly Key[]
  readonly leaves: readonly ChangedLeaf[]
}

/** Versions of a DID that have files: with `all` each whose document the database has, else the last one, and those that lead to entries of a long history. */
export interface WantedVersions {
  readonly all: boolean
  /** Only those after so many operations. */
  readonly after?: number
}

/** Bytes of rows that are read at once. */
const pageBytes = 64 * 1024

/** Files of the map after a block: every one, or those that blocks changed. */
export class MirroredState {
  readonly #rows: FrozenRows
  readonly #height: number
  readonly #page: ReadPage

  constructor(rows: FrozenRows, height: number) {
    this.#rows = rows
    this.#height = height
    this.#page = pagesAfter(rows, height)
  }

  get root(): Hash {
    return present(mapRootAfter(this.#rows, this.#height), `the map root of height ${this.#height}`)
  }

  /** All pages, the highest first. */
  async *allPages(): AsyncGenerator<MirrorFile, void, void> {
    const waiting: { readonly depth: number; readonly key: MapKey; readonly hash?: Hash }[] = [
      { depth: 0, key: new Uint8Array(32) },
    ]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { depth, key, hash } = next
      const page = await this.#page({ depth, key }, hash)
      // A map without a leaf has no page.
      if (page === undefined && depth === 0) return
      if (page === undefined) throw damaged(`a page of the map of DIDs at depth ${depth} is missing`)
      yield fileOf(tables.mapPage.key({ depth, key }), page)
      for (let i = pageSlots - 1; i >= 0; i--) {
        const slot = page.slot(i)
        if (slot !== undefined && !isLeaf(slot)) {
          waiting.push({ depth: depth + pageBits, key: keyBelow(key, depth, i), hash: slot.hash })
        }
      }
    }
  }

  /** The pages at some places that are there. */
  async *pagesAt(keys: Iterable<Key>): AsyncGenerator<MirrorFile, void, void> {
    for (const key of keys) {
      const page = await this.#page(placeOf(key))
      if (page !== undefined) yield fileOf(key, page)
    }
  }

  /** The files of all leaves. */
  async *allLeaves(wanted: Pick<WantedVersions, 'all'>): AsyncGenerator<MirrorFile, void, void> {
    for await (const page of this.#rows.pages(tables.didHead.range(), pageBytes)) {
      for (const [key] of page) yield* this.leafFiles({ did: tables.didHead.fields(key)[0] }, wanted)
    }
    for await (const page of this.#rows.pages(tables.credential.range(), pageBytes)) {
      for (const [key] of page) yield* this.leafFiles({ credential: tables.credential.fields(key)[0] }, wanted)
    }
  }

  /** The files of a leaf; none where it is younger than this state. */
  *leafFiles(changed: ChangedLeaf, { all, after = 0 }: WantedVersions): Generator<MirrorFile, void, void> {
    if (!('did' in changed)) {
      const leaf = this.#credentialLeaf(changed.credential)
      if (leaf !== undefined) yield fileOfLeaf(leaf)
      return
    }
    const { did } = changed
    const count = this.operationsOf(changed)
    const had = all ? firstHad(this.#rows, did) : count
    for (let version = after + 1; version <= count; version++) {
      const isWanted = version === count || version > had || version % entriesInLeaf === 0
      if (isWanted) yield fileOfLeaf(this.#didLeaf(did, version))
    }
  }

  /**
   * The name of the file that a leaf has, of a DID with so many operations; undefined: it has none, or one that stays, since the files of
   * later versions lead to it.
   */
  nameOfLeaf(changed: ChangedLeaf, count: number): string | undefined {
    if ('did' in changed) {
      if (count === 0 || count % entriesInLeaf === 0) return undefined
      return leafName(valueOfLeaf(this.#didEntries(changed.did, count)))
    }
    const leaf = this.#credentialLeaf(changed.credential)
    return leaf && leafName(valueOfLeaf(leaf))
  }

  /** Operations that the DID of a leaf has in this state; 0 for a credential. */
  operationsOf(leaf: ChangedLeaf): number {
    return 'did' in leaf ? operationsUpTo(this.#rows, leaf.did, this.#height) : 0
  }

  #didLeaf(did: ProgramHash, count: number): MirrorLeaf {
    const { rows, ...leaf } = this.#didEntries(did, count)
    // Older ones may have been given up; a file that only leads to entries needs none.
    const had = firstHad(this.#rows, did)
    const shown = keptEntries(rows).filter((i) => count - rows.length + i >= had)
    const transactions = shown.map((i) => transactionAt(this.#rows, rows[i] as DidOperationRow))
    return { ...leaf, key: didMapKey(didText(this.#rows, did)), transactions }
  }

  /** The last entries of a DID after so many operations, with their rows. */
  #didEntries(did: ProgramHash, count: number) {
    const row = (number: number) => present(tables.didOperation.get(this.#rows, did, number), 'an operation of a DID')
    const state = stateAfter(row(count - 1).operation)
    const first = count - entriesShown({ state, count })
    const rows = Array.from({ length: count - first }, (_, i) => row(first + i))
    const base = first === 0 ? emptyHistory : row(first - 1).digest
    return { state, count, base, entries: rows.map(entryBytes), rows }
  }

  #credentialLeaf(key: MapKey): MirrorLeaf | undefined {
    const all = tables.credential.get(this.#rows, key) ?? []
    const rows = all.filter(({ height }) => height <= this.#height)
    const last = rows.at(-1)
    if (last === undefined) return undefined
    const entries = rows.map(entryBytes)
    const transactions = rows.map((row) => transactionAt(this.#rows, row))
    return { state: stateAfter(last.operation), count: rows.length, key, base: emptyHistory, entries, transactions }
  }
}

/** Returns what the blocks above a height changed in the map, up to another; undefined where the rows do not say so any more. */
export async function changesBetween(rows: FrozenRows, from: number, to: number): Promise<MapChanges | undefined> {
  if (to - from > blocksByChange) return undefined
  const pages = new Map<string, Key>()
  const leaves = new Map<string, ChangedLeaf>()
  const yielder = new Yielder()
  for (let height = from + 1; height <= to; height++) {
    const row = rows.get(tables.mapRoot.key(height))
    const [before, after] = [mapRootAfter(rows, height - 1), mapRootAfter(rows, height)]
    if (row === undefined || before === undefined || after === undefined) return undefined
    if (equalBytes(before, after)) continue
    const changed = [...pagesOfMapRoot(row)]
    if (changed.length === 0) return undefined
    for (const key of changed) pages.set(mapKey(key), key)
    const undo = present(tables.undo.get(rows, height), `the undo record of height ${height}`)
    for (const did of undo.dids) leaves.set(mapKey(did), { did })
    for (const { key } of undo.credentials) leaves.set(mapKey(key), { credential: key })
    if (yielder.over) await yielder.next()
  }
  return { pages: [...pages.values()], leaves: [...leaves.values()] }
}

function fileOf(key: Key, page: MapPage): MirrorFile {
  // The key of the row, without its table, says where the page is.
  return { name: pageName(page.hash(topNode)), bytes: concat(key.subarray(1), page.row) }
}

function fileOfLeaf(leaf: MirrorLeaf): MirrorFile {
  return { name: leafName(valueOfLeaf(leaf)), bytes: leafFile(leaf) }
}

function placeOf(key: Key): { readonly depth: number; readonly key: MapKey } {
  const whole = new Uint8Array(32)
  whole.set(key.subarray(2))
  return { depth: key[1] as number, key: whole }
}

/** A key below a slot of the page at a depth. */
function keyBelow(key: MapKey, depth: number, slot: number): MapKey {
  const below = Uint8Array.from(key)
  const at = depth >> 3
  below[at] = (below[at] as number) | (depth % 8 === 0 ? slot << 4 : slot)
  return below
}
