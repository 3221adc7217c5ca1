import type { Coin } from '../../consensus/ledger.js'
import { documentOfPayload } from '../../../identity/did/known-document.js'
import type { DidDocument } from '../../../identity/did/model.js'
import { InvariantError } from '../../../base/errors/rule-error.js'
import { type ProgramHash, sharedAddress } from '../../../base/primitives/address.js'
import { didMethod } from '../../../base/primitives/did-method.js'
import type { DidOperation } from '../../../base/primitives/did-operation.js'
import type { Hash } from '../../../base/primitives/hash.js'
import { type Payload, txType } from '../../../base/primitives/payload.js'
import { payloadOf } from '../../../base/primitives/transaction-parts.js'
import { damaged } from '../database.js'
import { keys, type Location } from './schema.js'
import { type DidHeadRow, type DidOperationRow, values } from './row-values.js'

/** Reading rows of DIDs: heads, operations, documents. */

/** A synchronous source of rows. */
export interface RowReader {
  get(key: Buffer): Uint8Array | undefined
  /** What is known of a coin by its `outpointKey` without its row: null if it was spent, undefined if nothing is known. */
  knownCoin?(key: string): Coin | null | undefined
}

const lead = `did:${didMethod}:`

/** The program hash of a full DID text, whose bytes are not to be changed; undefined for one that cannot exist. */
export function didKey(did: string): ProgramHash | undefined {
  // A longer text would be hashed to be looked up.
  if (did.length !== lead.length + 34 || !did.startsWith(lead)) return undefined
  return sharedAddress(did.slice(lead.length))
}

/** The head row of a DID. */
export function didHead(rows: RowReader, did: ProgramHash): DidHeadRow | undefined {
  const row = rows.get(keys.didHead(did))
  return row === undefined ? undefined : values.didHead.decode(row)
}

/** One operation of a DID, by its sequence number. */
export function didOperation(rows: RowReader, did: ProgramHash, sequence: number): DidOperationRow {
  return values.didOperation.decode(present(rows.get(keys.didOperation(did, sequence)), 'an operation of a DID'))
}

/** An operation by its position. Nothing else of its transaction is decoded. */
export function operationAt(rows: RowReader, location: Location): DidOperation {
  return operationOf(payloadOf(transactionAt(rows, location)))
}

/** The bytes of a transaction by its position. */
export function transactionAt(rows: RowReader, { height, index }: Location): Uint8Array {
  return present(rows.get(keys.transaction(height, index)), `transaction ${index} of height ${height}`)
}

/** The operation in the payload of a transaction that a row names. */
export function operationOf(payload: Payload): DidOperation {
  if (payload.type === txType.did) return payload.operation
  throw new InvariantError('an operation is in no DID transaction')
}

/** Current position of a transaction: a reorganisation may have moved it since its DID was looked up. */
export function locationOf(rows: RowReader, txid: Hash): Location {
  return values.location.decode(present(rows.get(keys.location(txid)), 'the place of a document'))
}

/** The latest document of a DID that has one on the chain. */
export function storedDocument(rows: RowReader, did: ProgramHash): DidDocument {
  const head = present(didHead(rows, did), 'the head of a DID')
  return documentOfPayload(operationAt(rows, didOperation(rows, did, head.documentSequence)).payload, didMethod)
}

/** A row that the database must hold; otherwise it contradicts itself. */
export function present<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw damaged(`${what} is missing`)
  return value
}
