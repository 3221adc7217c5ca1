import { runCooperatively } from '../../../base/runtime/cooperative.js'
import type { Database } from '../database.js'
import type { Range } from '../stored-rows.js'
import { Overlay } from '../write/overlay.js'
import { mapTables } from '../rows/map-tables.js'
import { meta, tables, type TipRow } from '../rows/tables.js'
import { textInOperation } from '../rows/did-reader.js'
import { present, putOrDelete, type RowReader } from '../rows/row-reader.js'
import { valueOfHistory } from '../../../identity/proofs/history.js'
import { didMapKey, type Leaf } from '../../../identity/proofs/map-tree.js'
import { inKeyOrderSteps } from '../rows/map/change-map.js'
import { didOfKey, isOfLongName } from '../../../base/primitives/did-key.js'
import { endOfCredential } from '../rows/map/leaf-changes.js'
import { hasMap, mapChangeOf, putMapComplete } from '../rows/map/map-rows.js'

/** Makes the map of DIDs from the rows of DIDs and credentials, for a chain that commits to it from some later height on. */

/** Sizes of the work, which tests make small. */
export interface MapBuildSizes {
  /** Leaves that are put into order in memory at once. */
  readonly sortedAtOnce: number
  /** Leaves of one batch: neighbours, so that most pages are written once for each sorting. */
  readonly batchLeaves: number
}

const usualSizes: MapBuildSizes = { sortedAtOnce: 1 << 18, batchLeaves: 1 << 14 }

/** Rows deleted in one batch. */
const deletedAtOnce = 10_000

/**
 * Makes the map complete if nodes of the chain keep one (`wanted`), unless it is. A kill does no harm: without the row that says it
 * is complete it is made anew. Otherwise the row goes, since the map does not follow the chain any more. `progress` gets leaves.
 */
export async function keepMap(
  database: Database,
  wanted: boolean,
  progress: (done: number) => void = () => {},
  sizes: Partial<MapBuildSizes> = {},
): Promise<void> {
  if (hasMap(database) === wanted) return
  const tip = present(meta.tip.get(database), 'the row of the tip')
  if (wanted) await new MapBuild(database, tip, { ...usualSizes, ...sizes }, progress).run()
  else await commit(database, tip, (overlay) => overlay.del(meta.didMap.key))
}

class MapBuild {
  readonly #database: Database
  readonly #tip: TipRow
  readonly #sizes: MapBuildSizes
  readonly #progress: (done: number) => void
  #leaves: Leaf[] = []
  #done = 0

  constructor(database: Database, tip: TipRow, sizes: MapBuildSizes, progress: (done: number) => void) {
    this.#database = database
    this.#tip = tip
    this.#sizes = sizes
    this.#progress = progress
  }

  async run(): Promise<void> {
    for (const table of Object.values(mapTables)) await this.#clear(table.range())
    for await (const leaf of leavesIn(this.#database)) {
      this.#leaves.push(leaf)
      if (this.#leaves.length >= this.#sizes.sortedAtOnce) await this.#write()
    }
    await this.#write()
    await commit(this.#database, this.#tip, (overlay) => putMapComplete(overlay, this.#tip.height), true)
  }

  async #clear(range: Range): Promise<void> {
    for (;;) {
      const rows = await this.#database.rows(range, { limit: deletedAtOnce })
      if (rows.length === 0) return
      await commit(this.#database, this.#tip, (overlay) => rows.forEach(([key]) => overlay.del(key)))
    }
  }

  async #write(): Promise<void> {
    const leaves = await runCooperatively(inKeyOrderSteps(this.#leaves))
    this.#leaves = []
    for (let start = 0; start < leaves.length; start += this.#sizes.batchLeaves) {
      const some = leaves.slice(start, start + this.#sizes.batchLeaves)
      const { pages } = await mapChangeOf(new Overlay(this.#database), some)
      await commit(this.#database, this.#tip, (overlay) => {
        for (const { key, after } of pages) putOrDelete(overlay, key, after)
      })
      this.#done += some.length
      this.#progress(this.#done)
    }
  }
}

/** The leaves that the rows of DIDs and credentials make, in the order of these rows. */
export async function* leavesIn(database: Database): AsyncGenerator<Leaf, void, void> {
  // Operations of a DID follow each other, so the last one is known when the next DID begins.
  let last: { key: Buffer; row: Buffer } | undefined
  for await (const [key, row] of database.scan(tables.didOperation.range())) {
    if (last !== undefined && !last.key.subarray(0, 22).equals(key.subarray(0, 22))) yield leafOf(database, last)
    last = { key, row }
  }
  if (last !== undefined) yield leafOf(database, last)
  for await (const [key, row] of database.scan(tables.credential.range())) {
    const end = endOfCredential(tables.credential.decode(row))
    yield { key: Uint8Array.from(key.subarray(1)), value: valueOfHistory(end) }
  }
}

/** The leaf of a DID by the key and row of its last operation. */
function leafOf(rows: RowReader, { key, row }: { key: Buffer; row: Buffer }): Leaf {
  const { operation: last, digest, ...at } = tables.didOperation.decode(row)
  const [did, number] = tables.didOperation.fields(key)
  const text = isOfLongName(did) ? textInOperation(rows, at) : didOfKey(did)
  return { key: didMapKey(text), value: valueOfHistory({ last, count: number + 1, digest }) }
}

async function commit(
  database: Database,
  { hash, height }: TipRow,
  stage: (overlay: Overlay) => void,
  sync = false,
): Promise<void> {
  const overlay = new Overlay(database)
  stage(overlay)
  await overlay.commit({ kind: 'layout', hash, height }, { sync })
}
