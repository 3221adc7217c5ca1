import { documentOfPayload } from '../../../identity/did/known-document.js'
import type { DidDocument } from '../../../identity/did/model.js'
import { namedDid } from '../../../identity/did/named-did.js'
import { keptEntries } from '../../../identity/proofs/kept-entries.js'
import { InvariantError } from '../../../base/errors/rule-error.js'
import type { ProgramHash } from '../../../base/primitives/address.js'
import { didOfKey, isOfLongName, keyOfIdentifier } from '../../../base/primitives/did-key.js'
import { didMethod } from '../../../base/primitives/did-method.js'
import { longestName } from '../../../base/primitives/did-name.js'
import type { DidOperation } from '../../../base/primitives/did-operation.js'
import type { Hash } from '../../../base/primitives/hash.js'
import { type Payload, txType } from '../../../base/primitives/payload.js'
import { payloadOf } from '../../../base/primitives/transaction-parts.js'
import { joinedHeight, presentAt, supersededHeight } from './prune-rows.js'
import { present, type RowReader } from './row-reader.js'
import { type DidOperationRow, type Location, tables } from './tables.js'

/** Reading rows of DIDs: heads, operations, documents. */

const lead = `did:${didMethod}:`

/** The program hash of a full DID text, whose bytes are not to be changed; undefined for one that cannot exist. */
export function didKey(did: string): ProgramHash | undefined {
  // A longer text would be hashed to be looked up.
  if (did.length > lead.length + longestName || !did.startsWith(lead)) return undefined
  return keyOfIdentifier(did.slice(lead.length))
}

/** The full text of a DID that has operations: the last one has it where the key does not. */
export function didText(rows: RowReader, did: ProgramHash): string {
  if (!isOfLongName(did)) return didOfKey(did)
  const { operationCount } = present(tables.didHead.get(rows, did), 'the head of a DID')
  return textInOperation(rows, didOperation(rows, did, operationCount - 1))
}

/** The text of the DID that an operation at a place changes. */
export function textInOperation(rows: RowReader, at: Location): string {
  return present(namedDid(operationAt(rows, at)), 'the DID of an operation')
}

/** One operation of a DID, by its sequence number. */
export function didOperation(rows: RowReader, did: ProgramHash, sequence: number): DidOperationRow {
  return present(tables.didOperation.get(rows, did, sequence), 'an operation of a DID')
}

/** Number of operations of a DID up to a height, by a binary search over its rows. */
export function operationsUpTo(rows: RowReader, did: ProgramHash, height: number): number {
  let [low, high] = [0, tables.didHead.get(rows, did)?.operationCount ?? 0]
  // Most blocks asked for are above the last operation.
  if (high > 0 && didOperation(rows, did, high - 1).height <= height) return high
  while (low < high) {
    const middle = (low + high) >>> 1
    if (didOperation(rows, did, middle).height > height) high = middle
    else low = middle + 1
  }
  return low
}

/**
 * Number of the first operation of a DID from which on the database has all transactions: that of the document that was the latest after the
 * last block whose operations gave up those before.
 */
export function firstHad(rows: RowReader, did: ProgramHash): number {
  const height = Math.max(supersededHeight(rows), joinedHeight(rows))
  const count = height === 0 ? 0 : operationsUpTo(rows, did, height)
  const first = Math.max(0, count - 2)
  const last = Array.from({ length: count - first }, (_, i) => didOperation(rows, did, first + i))
  return first + (keptEntries(last)[0] ?? 0)
}

/** An operation by its position. Nothing else of its transaction is decoded. */
export function operationAt(rows: RowReader, location: Location): DidOperation {
  return operationOf(payloadOf(transactionAt(rows, location)))
}

/** The bytes of a transaction by its position. */
export function transactionAt(rows: RowReader, at: Location): Uint8Array {
  const { height, index } = at
  return presentAt(rows, at, tables.transaction.get(rows, height, index), `transaction ${index} of height ${height}`)
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
