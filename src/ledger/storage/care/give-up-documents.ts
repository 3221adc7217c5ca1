import { sha256d } from '../../../base/primitives/hash.js'
import type { ProgramHash } from '../../../base/primitives/address.js'
import { keptEntries } from '../../../identity/proofs/kept-entries.js'
import { didOperation, operationsUpTo } from '../rows/did-reader.js'
import type { StagedRows } from '../rows/row-reader.js'
import { type DidOperationRow, tables } from '../rows/tables.js'

/** Stages that the operations of a DID at a height have the documents before them given up; returns the bytes of these. */
export function giveUpDocuments(rows: StagedRows, did: ProgramHash, height: number): number {
  return supersededAt(rows, did, height).reduce((sum, row) => sum + giveUp(rows, row), 0)
}

/** Operations of a DID whose transactions its state needed before the block at a height, or in it, and does not after it. */
function supersededAt(rows: StagedRows, did: ProgramHash, height: number): DidOperationRow[] {
  const [before, count] = [operationsUpTo(rows, did, height - 1), operationsUpTo(rows, did, height)]
  // Nothing follows a deactivation, so that the operation before holds a document.
  const first = Math.max(0, before - 1)
  const some = Array.from({ length: count - first }, (_, i) => didOperation(rows, did, first + i))
  const kept = new Set(keptEntries(some))
  return some.filter((_, i) => !kept.has(i))
}

/** Puts the hashes of a transaction in its place; returns its bytes, 0 where it is not there any more. */
function giveUp(rows: StagedRows, { height, index, txid }: DidOperationRow): number {
  const key = tables.transaction.key(height, index)
  const bytes = rows.get(key)
  if (bytes === undefined) return 0
  rows.put(tables.givenUp.key(height, index), tables.givenUp.encode({ txid, digest: sha256d(bytes) }))
  rows.del(key)
  return bytes.length
}
