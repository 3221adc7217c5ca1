import { equalBytes } from '../../../base/primitives/bytes.js'
import { operationForms, type OperationName } from '../../../base/primitives/did-operation.js'
import { type Hash, sha256 } from '../../../base/primitives/hash.js'
import { emptyHistory, type Entry, entryBytes, extendHistory } from '../../../identity/proofs/history.js'
import type { Leaf } from '../../../identity/proofs/map-tree.js'
import type { Database } from '../database.js'
import { damaged } from '../failure.js'
import { blockTime } from '../rows/header-rows.js'
import { present, type RowReader } from '../rows/row-reader.js'
import { joinedHeight, supersededHeight } from '../rows/prune-rows.js'
import { type Location, tables } from '../rows/tables.js'
import { operationAt } from '../rows/did-reader.js'
import { leavesIn } from './build-map.js'
import { isLeaf, MapPage, pageBits, pageSlots, slotOf, topNode } from '../rows/map/map-page.js'

/**
 * Checks the map of DIDs against the rows that it follows from, where the blocks cannot be replayed. Memory does not grow with the
 * map.
 */

/** Throws a damage where the entry or digest of an operation is not what its transaction and header say. */
export async function checkHistories(database: Database): Promise<void> {
  const lacking = Math.max(joinedHeight(database), supersededHeight(database))
  let before: { readonly did: Buffer; readonly digest: Uint8Array } | undefined
  for await (const [key, value] of database.scan(tables.didOperation.range())) {
    const row = tables.didOperation.decode(value)
    const did = key.subarray(0, 22)
    // Of some only the hashes are there, of others nothing: what is not had cannot contradict the row.
    const isHad = row.height > lacking || tables.transaction.get(database, row.height, row.index) !== undefined
    const entry = entryBytes(isHad ? historyEntry(database, row, row.txid) : row)
    const digest = extendHistory(before?.did.equals(did) === true ? before.digest : emptyHistory, entry)
    if (!equalBytes(entryBytes(row), entry) || !equalBytes(row.digest, digest)) {
      throw damaged(`the history of a DID is wrong at height ${row.height}`)
    }
    before = { did, digest }
  }
}

/** Throws a damage unless the pages have exactly the leaves of DIDs and credentials, and the hashes that these give. */
export async function checkMapRows(database: Database): Promise<void> {
  let held = 0
  for await (const [key, row] of database.scan(tables.mapPage.range())) {
    const depth = key[1] as number
    const page = new MapPage(row)
    for (let i = 0; i < pageSlots; i++) {
      const slot = page.slot(i)
      if (slot === undefined) continue
      if (isLeaf(slot)) held++
      else checkBelow(database, key, depth, i, slot.hash)
    }
  }
  let wanted = 0
  for await (const leaf of leavesIn(database)) {
    wanted++
    const found = leafAt(database, leaf.key)
    if (found === undefined || !equalBytes(found.value, leaf.value)) throw damaged('a leaf of the map of DIDs is wrong')
  }
  if (held !== wanted) throw damaged(`the map of DIDs has ${held} leaves instead of ${wanted}`)
}

/** Checks the page below a slot by its hash. */
function checkBelow(rows: RowReader, key: Buffer, depth: number, slot: number, hash: Uint8Array): void {
  const path = new Uint8Array(32)
  path.set(key.subarray(2))
  const byte = depth >> 3
  path[byte] = (path[byte] as number) | (depth % 8 === 0 ? slot << 4 : slot)
  const below = pageIn(rows, { depth: depth + pageBits, key: path })
  if (below === undefined || !equalBytes(below.hash(topNode), hash)) {
    throw damaged(`a page of the map of DIDs is wrong at depth ${depth + pageBits}`)
  }
}

function leafAt(rows: RowReader, key: Uint8Array): Leaf | undefined {
  for (let depth = 0; ; depth += pageBits) {
    const slot = present(pageIn(rows, { depth, key }), 'a page of the map of DIDs').slot(slotOf(key, depth))
    if (slot === undefined) return undefined
    if (isLeaf(slot)) return equalBytes(slot.key, key) ? slot : undefined
  }
}

function pageIn(rows: RowReader, place: { depth: number; key: Uint8Array }): MapPage | undefined {
  const row = rows.get(tables.mapPage.key(place))
  return row && new MapPage(row)
}

/** Returns the entry of an operation in the history of its DID, from its transaction and the header of its block. */
function historyEntry(rows: RowReader, location: Location, txid: Hash): Entry {
  const { operation, payload } = operationAt(rows, location)
  return {
    operation: operationForms[operation as OperationName].number,
    height: location.height,
    time: blockTime(rows, present(tables.active.get(rows, location.height), `the block of height ${location.height}`)),
    txid,
    payloadHash: sha256(payload),
  }
}
