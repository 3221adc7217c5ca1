import type { MapProofJson } from '../../identity/did/state-proof.js'
import { RuleError } from '../../base/errors/rule-error.js'
import type { ProgramHash } from '../../base/primitives/address.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import {
  type Entry,
  emptyHistory,
  entryBytes,
  entrySize,
  extendHistory,
  stateAfter,
  valueOfHistory,
} from '../../identity/proofs/history.js'
import { type HistoryPart, mapProofJson } from '../../identity/proofs/map-proof.js'
import { credentialMapKey, didMapKey, type MapKey } from '../../identity/proofs/map-tree.js'
import { credentialRow } from '../../ledger/storage/rows/credential-rows.js'
import type { RowSource } from '../../ledger/storage/stored-rows.js'
import { damaged } from '../../ledger/storage/failure.js'
import { didOperation, operationsUpTo } from '../../ledger/storage/rows/did-reader.js'
import { type Key, tables } from '../../ledger/storage/rows/tables.js'
import { pagesAfter, readWay, type Way } from '../../ledger/storage/rows/map/read-way.js'
import type { PageMemory } from '../../ledger/storage/rows/map/page-memory.js'

/** Proofs of keys in the map of DIDs after a block, from rows; the caller ensures that they are of one state. */

/** @limit count: operations of a DID in a proof */
export const maxProvedEntries = 10_000

/** Bytes of an operation in a proof, in base64url. */
export const provedEntry = Math.ceil((entrySize * 4) / 3)
/** Depths of the pages on the way of a key among some ten thousand others: every fourth. */
const usualDepths = [0, 4, 8, 12, 16]
/** Rows of operations per read. */
const rowsAtOnce = 512

export interface MapSource {
  readonly database: RowSource
  /** Inner nodes that need not be hashed again. */
  readonly pages: PageMemory
}

/** The operations of one leaf up to a block. */
interface Leaf {
  readonly key: MapKey
  /** Those to show, oldest first; empty: the key has no leaf. */
  readonly entries: readonly Entry[]
  readonly count: number
  /** Digest of those before, and of all. */
  readonly base: Hash
  readonly digest: Hash
}

/**
 * The map proof of a DID after the block at a height, with its operations from number `from` on; the last one at least. `key`:
 * undefined for a text that no key can have. `history-size` for more than {@link maxProvedEntries}.
 */
export async function didMapProof(
  source: MapSource,
  { did, key, height, from }: { did: string; key: ProgramHash | undefined; height: number; from: number },
): Promise<MapProofJson> {
  const { database } = source
  const count = key === undefined ? 0 : operationsUpTo(database, key, height)
  if (key === undefined || count === 0) return mapProof(source, height, absent(didMapKey(did)))
  const first = Math.min(from, count - 1)
  if (count - first > maxProvedEntries) throw tooLong(did, count - first)
  const entries: (Entry & { readonly digest: Hash })[] = []
  for (let from = first; from < count; from += rowsAtOnce) {
    const end = Math.min(from + rowsAtOnce, count)
    const rows = await database.rows({ gte: tables.didOperation.key(key, from), lt: tables.didOperation.key(key, end) })
    entries.push(...rows.map(([, row]) => tables.didOperation.decode(row)))
  }
  if (entries.length !== count - first) throw damaged(`operations of ${did} are missing`)
  const base = first === 0 ? emptyHistory : didOperation(database, key, first - 1).digest
  const { digest } = entries.at(-1) as (typeof entries)[number]
  return mapProof(source, height, { key: didMapKey(did), entries, count, base, digest })
}

/** The map proof of a DID's operations on a credential, after the block at a height: with all of them. */
export async function credentialMapProof(
  source: MapSource,
  { id, signer, height }: { id: string; signer: string; height: number },
): Promise<MapProofJson> {
  const said = credentialRow(source.database, id, signer) ?? []
  const entries = said.filter((entry) => entry.height <= height)
  const digest = entries.map(entryBytes).reduce(extendHistory, emptyHistory)
  return mapProof(source, height, { ...absent(credentialMapKey(id, signer)), entries, count: entries.length, digest })
}

function absent(key: MapKey): Leaf {
  return { key, entries: [], count: 0, base: emptyHistory, digest: emptyHistory }
}

async function mapProof(source: MapSource, height: number, leaf: Leaf): Promise<MapProofJson> {
  const { siblings, end } = await wayAfter(source, height, leaf.key)
  const history = historyOf(leaf)
  const isOwn = end !== undefined && equalBytes(end.key, leaf.key)
  // Clients would take a proof that leads elsewhere for a lie.
  if (isOwn !== (history !== undefined) || (isOwn && !equalBytes(end.value, history?.value ?? end.key))) {
    throw damaged('the map of DIDs does not have what the rows of a DID say')
  }
  if (history !== undefined) return mapProofJson({ siblings, history: history.part })
  return mapProofJson({ siblings, ...(end && { leaf: end }) })
}

/** Rows of a state below the tip are found by one iterator, which belongs to a snapshot; those of now need neither. */
async function wayAfter({ database, pages }: MapSource, height: number, key: MapKey): Promise<Way> {
  const isNow = database.get(tables.mapRoot.key(height + 1)) === undefined
  if (isNow) {
    const now = { get: (row: Key) => database.get(row), seek: () => Promise.resolve(undefined) }
    await database.load(() => usualDepths.map((depth) => tables.mapPage.key({ depth, key })))
    return readWay(pagesAfter(now, height, pages), key)
  }
  const rows = database.freeze()
  try {
    return await readWay(pagesAfter(rows, height, pages), key)
  } finally {
    rows.close()
  }
}

/** The history of a leaf, and the value that it gives; undefined: there is none. */
function historyOf({
  entries,
  count,
  base,
  digest,
}: Leaf): { readonly part: HistoryPart; readonly value: Uint8Array } | undefined {
  const last = entries.at(-1)?.operation
  if (last === undefined) return undefined
  const hasBase = entries.length < count
  return {
    part: { state: stateAfter(last), count, entries: entries.map(entryBytes), base: hasBase ? base : undefined },
    value: valueOfHistory({ last, count, digest }),
  }
}

function tooLong(did: string, entries: number): RuleError {
  const detail = `the proof would show ${entries} operations of ${did}, more than ${maxProvedEntries}`
  return new RuleError('history-size', `${detail}; ask for a later version, or for the latest state`)
}
