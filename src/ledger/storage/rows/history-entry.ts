import { Reader } from '../../../base/primitives/codec.js'
import { operationForms, type OperationName } from '../../../base/primitives/did-operation.js'
import { type Hash, sha256 } from '../../../base/primitives/hash.js'
import { Header } from '../../../base/primitives/header.js'
import type { Entry } from '../../../identity/proofs/history.js'
import { operationAt } from './did-reader.js'
import { present, type RowReader } from './row-reader.js'
import { type Location, tables } from './tables.js'

/** What an operation on the chain is in the history of its DID, from its transaction and the header of its block. */
export function historyEntry(rows: RowReader, location: Location, txid: Hash): Entry {
  const { operation, payload } = operationAt(rows, location)
  return {
    operation: operationForms[operation as OperationName].number,
    height: location.height,
    time: blockTime(rows, location.height),
    txid,
    payloadHash: sha256(payload),
  }
}

/** Unix seconds of the active block at a height. */
function blockTime(rows: RowReader, height: number): number {
  const hash = present(rows.get(tables.active.key(height)), `the block of height ${height}`)
  const record = present(rows.get(tables.header.key(hash)), `the header of height ${height}`)
  return Header.read(new Reader(tables.header.decode(record).header)).time
}
