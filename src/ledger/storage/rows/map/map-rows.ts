import { concat, equalBytes, mapKey, toHex } from '../../../../base/primitives/bytes.js'
import { type Hash, sha256, zeroHash } from '../../../../base/primitives/hash.js'
import type { Steps } from '../../../../base/primitives/steps.js'
import { forEachCooperatively, runCooperatively } from '../../../../base/runtime/cooperative.js'
import { damaged } from '../../failure.js'
import { pagesOfMapRoot } from '../map-tables.js'
import { putOrDelete, type RowReader, type Rows, type StagedRows } from '../row-reader.js'
import { type Key, type MapPlace, meta, tables } from '../tables.js'
import { bySlot, changeMapSteps, type LeafChange, mapRootIn, type Pages } from './change-map.js'
import { isLeaf, MapPage, pageBits } from './map-page.js'
import { PageMemory } from './page-memory.js'

/** Rows of the map of DIDs: its pages, those of before each of the last blocks, and its root after each block. */

/**
 * A reorganisation goes no deeper, and no proof.
 * @tuning count: blocks below the tip of whose state a node proves answers, unless it keeps all
 */
export const provedHeights = 288

/** @tuning count: blocks whose states are dropped with one block, where more than one is left */
const droppedAtOnce = 64
/** Pages of before at which that ends: a batch of a sync has many blocks. */
const droppedPages = 256

/** Leaves from which pages are loaded a level at a time, instead of one by one. */
const leavesToLoad = 16

/** Pages read in one call: all of a call come in one turn. */
const pagesAtOnce = 256

/** Leaves hashed in one step. */
const leavesAtOnce = 64
const hashSize = 32

const nothing = new Uint8Array(0)

/** A page before and after a change; undefined: there is none. */
interface ChangedPage {
  readonly key: Key
  readonly before: Uint8Array | undefined
  readonly after: Uint8Array | undefined
}

/** Change of the map by a block. */
export interface MapChange {
  readonly root: Hash
  readonly pages: readonly ChangedPage[]
}

/** How a block's change is kept. */
export interface MapKeeping {
  /** Height to which the chain is known to go on: blocks deep below it need no rows to put the map back. */
  readonly knownHeight: number
  /** Whether pages of before are kept for ever. */
  readonly archive?: boolean
}

/** Whether the map is complete; a database of a chain that commits to none has no map. */
export function hasMap(rows: RowReader): boolean {
  return rows.get(meta.didMap.key) !== undefined
}

/** The lowest height of which the map proves anything. */
export function provedFrom(rows: RowReader): number {
  return meta.proofs.get(rows) ?? 0
}

function putProvedFrom(overlay: StagedRows, height: number): void {
  if (height !== provedFrom(overlay)) meta.proofs.put(overlay, height)
}

/** The height up to which blocks have no pages of before any more. */
function droppedTo(rows: RowReader): number {
  return meta.dropped.get(rows) ?? 0
}

function putDroppedTo(overlay: StagedRows, height: number): void {
  meta.dropped.put(overlay, height)
}

/** Stages that the map is complete as of a block. Nothing before it can be proved. */
export function putMapComplete(overlay: StagedRows, height: number): void {
  meta.didMap.put(overlay, 1)
  overlay.put(tables.mapRoot.key(height), tables.mapRoot.encode({ root: storedMapRoot(overlay), pages: [] }))
  meta.proofs.put(overlay, height)
  putDroppedTo(overlay, height)
}

/** The map root that the pages have. */
export function storedMapRoot(rows: RowReader): Hash {
  return mapRootIn({
    get: (place) => {
      const row = rows.get(tables.mapPage.key(place))
      return row && new MapPage(row)
    },
  })
}

/** The map root after a block; undefined: it is not known. */
export function mapRootAfter(rows: RowReader, height: number): Hash | undefined {
  const row = rows.get(tables.mapRoot.key(height))
  return row?.subarray(0, hashSize)
}

/**
 * Parts of the map that need no hashing: inner nodes of its upper pages, and changes of the last blocks made, by the map before and the
 * leaves. A block of this node is thereby hashed for its template alone.
 */
export class MapMemory {
  readonly pages: PageMemory
  #kept: { readonly id: string; readonly change: MapChange }[] = []

  constructor(pages: PageMemory = new PageMemory()) {
    this.pages = pages
  }

  find(id: string): MapChange | undefined {
    return this.#kept.find((kept) => kept.id === id)?.change
  }

  add(id: string, change: MapChange): void {
    this.#kept = [...this.#kept, { id, change }].slice(-knownKept)
  }
}

/**
 * Each holds its pages in memory.
 * @tuning count: changes of the map that are kept for the block they were computed for
 */
const knownKept = 2

/** Returns the change of the map in the rows by leaves, in the order of their keys. Writes nothing. */
export async function mapChangeOf(
  rows: Rows,
  leaves: readonly LeafChange[],
  memory: MapMemory = new MapMemory(),
): Promise<MapChange> {
  const pages = new ChangedPages(rows, memory.pages)
  const before = mapRootIn(pages)
  if (leaves.length === 0) return { root: before, pages: [] }
  const id = await runCooperatively(idSteps(before, leaves))
  const found = memory.find(id)
  if (found !== undefined) return found
  if (leaves.length >= leavesToLoad) await pages.load(leaves)
  const root = await runCooperatively(changeMapSteps(pages, leaves))
  const change = { root, pages: pages.changed }
  memory.add(id, change)
  return change
}

/** A name for the map before and what leaves change there. */
function* idSteps(before: Hash, leaves: readonly LeafChange[]): Steps<string> {
  let digest = before
  for (let start = 0; start < leaves.length; start += leavesAtOnce) {
    const some = leaves.slice(start, start + leavesAtOnce)
    digest = sha256(concat(digest, ...some.flatMap(({ key, value }) => [key, value ?? zeroHash])))
    yield
  }
  return mapKey(digest)
}

/** A page to be read, over changes of leaves. `hash`: what the page above has of it. */
interface PageToRead {
  readonly key: Key
  readonly hash: Hash | undefined
  readonly changes: readonly LeafChange[]
}

/** Pages over rows that stay as they are. */
class ChangedPages implements Pages {
  readonly #rows: Rows
  readonly #memory: PageMemory
  /** By the keys of their rows. */
  readonly #read = new Map<string, MapPage | undefined>()
  readonly #changed: ChangedPage[] = []

  constructor(rows: Rows, memory: PageMemory) {
    this.#rows = rows
    this.#memory = memory
  }

  get changed(): readonly ChangedPage[] {
    return this.#changed
  }

  /** Reads the pages on the ways of leaves in the order of their keys, in few calls for each level. */
  async load(leaves: readonly LeafChange[]): Promise<void> {
    let level = [pageToRead(0, leaves)]
    for (let depth = 0; level.length > 0; depth += pageBits) {
      const missing: PageToRead[] = []
      await forEachCooperatively(level, (page) => {
        if (this.#known(page.key, page.hash) === undefined) missing.push(page)
      })
      for (let start = 0; start < missing.length; start += pagesAtOnce) {
        const some = missing.slice(start, start + pagesAtOnce).map(({ key }) => key)
        const rows = await this.#rows.getMany(some)
        await forEachCooperatively(some.entries(), ([i, key]) => this.#add(key, rows[i]))
      }
      const next: PageToRead[] = []
      await forEachCooperatively(level, ({ key, changes }) => {
        const page = this.#read.get(mapKey(key))
        for (const part of bySlot(changes, depth)) {
          const slot = page?.slot(part.index)
          if (slot !== undefined && !isLeaf(slot)) next.push(pageToRead(depth + pageBits, part.changes, slot.hash))
        }
      })
      level = next
    }
  }

  get(place: MapPlace, hash?: Hash): MapPage | undefined {
    const key = tables.mapPage.key(place)
    return this.#known(key, hash) ?? this.#add(key, this.#rows.get(key))
  }

  put(place: MapPlace, page: MapPage | undefined): void {
    const key = tables.mapPage.key(place)
    if (page !== undefined) this.#memory.keep(key, page)
    const [before, after] = [this.#read.get(mapKey(key))?.row, page?.row]
    if (before !== undefined || after !== undefined) this.#changed.push({ key, before, after })
  }

  /** The page of a key, if no row need be read for it. */
  #known(key: Key, hash: Hash | undefined): MapPage | undefined {
    const id = mapKey(key)
    const page = this.#read.get(id) ?? (hash && this.#memory.find(key, hash))
    if (page !== undefined) this.#read.set(id, page)
    return page
  }

  #add(key: Key, row: Uint8Array | undefined): MapPage | undefined {
    const page = row && new MapPage(row)
    this.#read.set(mapKey(key), page)
    if (page !== undefined) this.#memory.keep(key, page)
    return page
  }
}

function pageToRead(depth: number, changes: readonly LeafChange[], hash?: Hash): PageToRead {
  return { key: tables.mapPage.key({ depth, key: (changes[0] as LeafChange).key }), hash, changes }
}

/** Stages what a block changes in the map, and drops what is now too deep to be put back or proved. */
export async function putMapChange(
  overlay: StagedRows,
  height: number,
  change: MapChange,
  keeping: MapKeeping,
): Promise<void> {
  const { knownHeight, archive = false } = keeping
  const keeps = archive || change.pages.length === 0 || height > knownHeight - provedHeights
  await forEachCooperatively(change.pages, ({ key, before, after }) => {
    putOrDelete(overlay, key, after)
    if (keeps) overlay.put(tables.mapPageBefore.key(key, height), before ?? nothing)
  })
  const pages = keeps ? change.pages.map(({ key }) => key) : []
  overlay.put(tables.mapRoot.key(height), tables.mapRoot.encode({ root: change.root, pages }))
  if (!keeps) putProvedFrom(overlay, height)
  if (!archive) await dropDeep(overlay, height - provedHeights)
}

/**
 * Drops the pages of before of blocks up to a height: those of the next one, and some that were kept for ever until now, or that a sync
 * left behind.
 */
async function dropDeep(overlay: StagedRows, to: number): Promise<void> {
  const from = droppedTo(overlay)
  const end = Math.min(to, from + droppedAtOnce)
  let pages = 0
  let dropped = from
  // Two at least, or the end would never be reached.
  while (dropped < end && (pages < droppedPages || dropped < from + 2)) pages += await dropPages(overlay, ++dropped)
  if (dropped === from) return
  putDroppedTo(overlay, dropped)
  if (dropped > provedFrom(overlay)) putProvedFrom(overlay, dropped)
}

/** Drops the pages of before a block; resolves with their number. */
async function dropPages(overlay: StagedRows, height: number): Promise<number> {
  const row = overlay.get(tables.mapRoot.key(height))
  if (row === undefined || row.length <= hashSize) return 0
  let pages = 0
  await forEachCooperatively(pagesOfMapRoot(row), (page) => {
    overlay.del(tables.mapPageBefore.key(page, height))
    pages++
  })
  overlay.put(tables.mapRoot.key(height), row.subarray(0, hashSize))
  return pages
}

/**
 * Stages the map as it was before the last block, whose other rows are taken back already, and returns its root; undefined: there
 * is no map. `leaves`: those that the block changed, as they are now.
 */
export async function putMapBack(
  overlay: StagedRows,
  height: number,
  leaves: () => Steps<readonly LeafChange[]>,
): Promise<Hash | undefined> {
  if (!hasMap(overlay)) return undefined
  const row = overlay.get(tables.mapRoot.key(height))
  const hasPages = row !== undefined && row.length > hashSize
  await forEachCooperatively(hasPages ? pagesOfMapRoot(row) : [], (key) => {
    const beforeKey = tables.mapPageBefore.key(key, height)
    const before = overlay.get(beforeKey)
    if (before === undefined) throw damaged(`a page of the map before height ${height} is missing`)
    putOrDelete(overlay, key, before.length === 0 ? undefined : before)
    overlay.del(beforeKey)
  })
  if (!hasPages) {
    const { pages } = await mapChangeOf(overlay, await runCooperatively(leaves()))
    await forEachCooperatively(pages, ({ key, after }) => putOrDelete(overlay, key, after))
  }
  overlay.del(tables.mapRoot.key(height))
  if (provedFrom(overlay) >= height) putProvedFrom(overlay, height - 1)
  if (droppedTo(overlay) >= height) putDroppedTo(overlay, height - 1)
  const root = storedMapRoot(overlay)
  const expected = mapRootAfter(overlay, height - 1)
  if (expected !== undefined && !equalBytes(expected, root)) {
    throw damaged(`the map before height ${height} has root ${toHex(root)}, not ${toHex(expected)}`)
  }
  return root
}
