import type { ConnectedOperation } from '../../../consensus/connect.js'
import type { ProgramHash } from '../../../../base/primitives/address.js'
import { mapKey as textOf } from '../../../../base/primitives/bytes.js'
import { operationForms, type OperationName } from '../../../../base/primitives/did-operation.js'
import { sha256 } from '../../../../base/primitives/hash.js'
import { eachSteps, type Steps } from '../../../../base/primitives/steps.js'
import { operationPayloadOf } from '../../../../base/primitives/transaction-parts.js'
import {
  emptyHistory,
  entryBytes,
  extendHistory,
  type HistoryEnd,
  valueOfHistory,
} from '../../../../identity/proofs/history.js'
import { didMapKey, type MapKey } from '../../../../identity/proofs/map-tree.js'
import { credentialRow, type Mined, putCredential } from '../credential-rows.js'
import { didKey, didOperation, operationOf } from '../did-reader.js'
import { present, type RowReader, type StagedRows } from '../row-reader.js'
import { type CredentialRow, type CredentialUndo, type DidOperationRow, tables, type UndoRecord } from '../tables.js'
import { inKeyOrderSteps, type LeafChange } from './change-map.js'

/** The leaves that operations change, from the rows of DIDs and credentials. */

/** The part of an operation that decides its leaf. */
export interface LeafOperation extends Pick<ConnectedOperation, 'id' | 'credential'> {
  readonly state: Pick<ConnectedOperation['state'], 'operationCount'>
}

/** Leaves that the operations of a block change, each as it is after the last of them. */
export class LeafChanges {
  /** By DID, or by credential and signer. */
  readonly #leaves = new Map<string, { key(): MapKey; readonly end: HistoryEnd }>()

  /** Stages the row of one operation, and notes its leaf. Returns what takes a declare or revoke back. */
  put(overlay: StagedRows, operation: LeafOperation, mined: Mined): CredentialUndo | undefined {
    const { id, state, credential } = operation
    if (credential === undefined) {
      const { digest, operation: last } = putDidOperation(overlay, operation, mined)
      this.#leaves.set(id, { key: () => didMapKey(id), end: { last, count: state.operationCount, digest } })
      return undefined
    }
    const undo = putCredential(overlay, credential, mined)
    const end = endOfCredential(present(credentialRow(overlay, credential.id, credential.signer), 'a credential'))
    this.#leaves.set(textOf(undo.key), { key: () => undo.key, end })
    return undo
  }

  /** The leaves in the order of their keys. */
  *listSteps(): Steps<LeafChange[]> {
    const leaves: LeafChange[] = []
    for (const { key, end } of this.#leaves.values()) {
      leaves.push({ key: key(), value: valueOfHistory(end) })
      yield
    }
    return yield* inKeyOrderSteps(leaves)
  }
}

/** Stages the row of an operation on a DID. Those before it have theirs. */
function putDidOperation(
  overlay: StagedRows,
  { id, state }: LeafOperation,
  { height, index, time, tx }: Mined,
): DidOperationRow {
  const did = present(didKey(id), 'the key of a connected DID')
  const sequence = state.operationCount - 1
  const { operation } = operationOf(tx.payload)
  const number = operationForms[operation as OperationName].number
  const payloadHash = sha256(operationPayloadOf(tx.bytes))
  const entry = { operation: number, height, time, txid: tx.hash, payloadHash }
  const before = sequence === 0 ? emptyHistory : didOperation(overlay, did, sequence - 1).digest
  const row = { ...entry, index, digest: extendHistory(before, entryBytes(entry)) }
  overlay.put(tables.didOperation.key(did, sequence), tables.didOperation.encode(row))
  return row
}

/** The end of the history of what a DID said of a credential. */
export function endOfCredential(operations: CredentialRow): HistoryEnd {
  const { operation: last } = present(operations.at(-1), 'an operation on a credential')
  const digest = operations.map(entryBytes).reduce(extendHistory, emptyHistory)
  return { last, count: operations.length, digest }
}

/** The leaf of a DID with a text as its rows are; without a value when it has no operation. */
function leafOfDid(rows: RowReader, did: ProgramHash, text: string): LeafChange {
  const key = didMapKey(text)
  const count = tables.didHead.get(rows, did)?.operationCount
  if (count === undefined) return { key, value: undefined }
  const { operation: last, digest } = didOperation(rows, did, count - 1)
  return { key, value: valueOfHistory({ last, count, digest }) }
}

/** The leaf of a credential and a signer as its row is; without a value when there is none. */
function leafOfCredential(rows: RowReader, key: MapKey): LeafChange {
  const operations = tables.credential.get(rows, key)
  return { key, value: operations && valueOfHistory(endOfCredential(operations)) }
}

/**
 * The leaves that the operations of an undo record belong to, as their rows are, in the order of their keys. `didOf`: text of a DID, which
 * the rows may not have any more.
 */
export function* leavesOfSteps(
  rows: RowReader,
  { dids, credentials }: Pick<UndoRecord, 'dids' | 'credentials'>,
  didOf: (did: ProgramHash) => string,
): Steps<LeafChange[]> {
  const leaves = new Map<string, LeafChange>()
  yield* eachSteps(dids, (did) => leaves.set(textOf(did), leafOfDid(rows, did, didOf(did))))
  yield* eachSteps(credentials, ({ key }) => leaves.set(textOf(key), leafOfCredential(rows, key)))
  return yield* inKeyOrderSteps(leaves.values())
}
