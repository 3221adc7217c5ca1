import { didPart } from '../../../identity/did/identifier.js'
import { issuerInPayload } from '../../../identity/did/named-did.js'
import type { CredentialChange, CredentialState } from '../../../identity/did/state.js'
import { InvariantError } from '../../../base/errors/rule-error.js'
import type { ProgramHash } from '../../../base/primitives/address.js'
import { formOfNumber, operationForms } from '../../../base/primitives/did-operation.js'
import { sha256 } from '../../../base/primitives/hash.js'
import type { Transaction } from '../../../base/primitives/transaction.js'
import { operationPayloadOf } from '../../../base/primitives/transaction-parts.js'
import { credentialMapKey } from '../../../identity/proofs/map-tree.js'
import { didKey, operationOf, transactionAt } from './did-reader.js'
import { type StagedRows, present, type RowReader } from './row-reader.js'
import { type CredentialRow, type CredentialUndo, type Location, tables } from './tables.js'

/** Rows of credentials: what each DID said of each, and what each holder declared. */

/** Returns the row of a credential by a DID; undefined without one. */
export function credentialRow(rows: RowReader, id: string, signer: string): CredentialRow | undefined {
  return tables.credential.get(rows, credentialMapKey(id, signer))
}

/** The same as rules see it; `issuerOf` finds the issuer of the credential that a declare on the chain holds. */
export function credentialState(
  rows: RowReader,
  id: string,
  signer: string,
  issuerOf: (declare: CredentialRow[number]) => string,
): CredentialState | undefined {
  const operations = credentialRow(rows, id, signer)
  if (operations === undefined) return undefined
  const revoked = operations.some(({ operation }) => formOfNumber(operation)?.effect === 'end')
  const declare = operations.find(({ operation }) => formOfNumber(operation)?.effect === 'credential')
  if (declare === undefined) return { revoked }
  return { declared: { issuer: () => issuerOf(declare) }, revoked }
}

/** The issuer of the credential in a declare on the chain. */
export function declaredIssuer(rows: RowReader, declare: Location): string {
  const issuer = issuerInPayload(operationPayloadOf(transactionAt(rows, declare)))
  if (issuer === undefined) throw new InvariantError('a declare on the chain names no issuer')
  return issuer
}

/** Number of credentials that a holder declared. */
export function declaredCount(rows: RowReader, holder: ProgramHash): number {
  return tables.declaredCount.get(rows, holder) ?? 0
}

/** The transaction with an operation, and where it is. */
export interface Mined extends Location {
  readonly tx: Transaction
  /** Unix seconds of its block. */
  readonly time: number
}

/** Stages the rows of a declare or revoke; returns what takes it back. */
export function putCredential(
  rows: StagedRows,
  { id, signer, action, issuer }: CredentialChange,
  { height, index, time, tx }: Mined,
): CredentialUndo {
  const holderDid = didPart(id)
  const holder = present(didKey(holderDid), 'the key of a holder')
  const operation = operationForms[action].number
  const key = credentialMapKey(id, signer)
  const payloadHash = sha256(operationOf(tx.payload).payload)
  const before = credentialRow(rows, id, signer) ?? []
  const added = { index, operation, height, time, txid: tx.hash, payloadHash }
  rows.put(tables.credential.key(key), tables.credential.encode([...before, added]))
  if (issuer !== undefined) {
    const count = declaredCount(rows, holder)
    rows.put(tables.declared.key(holder, count), tables.declared.encode(id.slice(holderDid.length + 1)))
    rows.put(tables.declaredCount.key(holder), tables.declaredCount.encode(count + 1))
  }
  return { operation, key, holder }
}

/** Takes back the last operation of a credential and a signer. */
export function popCredential(rows: StagedRows, { operation, key, holder }: CredentialUndo): void {
  const row = tables.credential.key(key)
  const before = tables.credential.decode(present(rows.get(row), 'the row of a credential')).slice(0, -1)
  if (before.length === 0) rows.del(row)
  else rows.put(row, tables.credential.encode(before))
  if (formOfNumber(operation)?.effect === 'end') return
  const count = declaredCount(rows, holder) - 1
  rows.del(tables.declared.key(holder, count))
  if (count === 0) rows.del(tables.declaredCount.key(holder))
  else rows.put(tables.declaredCount.key(holder), tables.declaredCount.encode(count))
}
