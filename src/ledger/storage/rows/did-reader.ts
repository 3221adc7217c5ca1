import { documentOfPayload } from '../../../identity/did/known-document.js'
import type { DidDocument } from '../../../identity/did/model.js'
import { InvariantError } from '../../../base/errors/rule-error.js'
import { type ProgramHash, sharedAddress } from '../../../base/primitives/address.js'
import { didMethod } from '../../../base/primitives/did-method.js'
import type { DidOperation } from '../../../base/primitives/did-operation.js'
import type { Hash } from '../../../base/primitives/hash.js'
import { type Payload, txType } from '../../../base/primitives/payload.js'
import { payloadOf } from '../../../base/primitives/transaction-parts.js'
import { presentAt } from './prune-rows.js'
import { present, type RowReader } from './row-reader.js'
import { type DidOperationRow, type Location, tables } from './tables.js'

/** Reading rows of DIDs: heads, operations, documents. */

const lead = `did:${didMethod}:`

/** The program hash of a full DID text, whose bytes are not to be changed; undefined for one that cannot exist. */
export function didKey(did: string): ProgramHash | undefined {
  // A longer text would be hashed to be looked up.
  if (did.length !== lead.length + 34 || !did.startsWith(lead)) return undefined
  return sharedAddress(did.slice(lead.length))
}

/** One operation of a DID, by its sequence number. */
export function didOperation(rows: RowReader, did: ProgramHash, sequence: number): DidOperationRow {
  return present(tables.didOperation.get(rows, did, sequence), 'an operation of a DID')
}

/** An operation by its position. Nothing else of its transaction is decoded. */
export function operationAt(rows: RowReader, location: Location): DidOperation {
  return operationOf(payloadOf(transactionAt(rows, location)))
}

/** The bytes of a transaction by its position. */
export function transactionAt(rows: RowReader, { height, index }: Location): Uint8Array {
  return presentAt(
    rows,
    height,
    tables.transaction.get(rows, height, index),
    `transaction ${index} of height ${height}`,
  )
}

/** The operation in the payload of a transaction that a row names. */
export function operationOf(payload: Payload): DidOperation {
  if (payload.type === txType.did) return payload.operation
  throw new InvariantError('an operation is in no DID transaction')
}

/** Current position of a transaction: a reorganisation may have moved it since its DID was looked up. */
export function locationOf(rows: RowReader, txid: Hash): Location {
  return present(tables.location.get(rows, txid), 'the place of a document')
}

/** The latest document of a DID that has one on the chain. */
export function storedDocument(rows: RowReader, did: ProgramHash): DidDocument {
  const head = present(tables.didHead.get(rows, did), 'the head of a DID')
  return documentOfPayload(operationAt(rows, didOperation(rows, did, head.documentSequence)).payload, didMethod)
}
