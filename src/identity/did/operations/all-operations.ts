/**
 * DID operations: one row an operation, with how it is read and what it does to its DID or credential.
 *
 *   parseOperation -> operationRow(kind).parse; applyOperation -> operationRow(kind).apply -> new state of DID or credential
 *
 * - The table is complete by type: an operation without a row does not compile.
 * - A row reads no state but its arguments; rules of all operations stand in did-rules and apply-operation.
 */
import type { OperationName } from '../../../base/primitives/did-operation.js'
import { create } from './create.js'
import { deactivate } from './deactivate.js'
import { declare } from './declare.js'
import type { OperationRow, ParsedOperation } from './operation-row.js'
import { revoke } from './revoke.js'
import { transfer } from './transfer.js'
import { update } from './update.js'

/** The rules of each operation. */
const operations: { readonly [Name in OperationName]: OperationRow<Name> } = {
  create,
  update,
  deactivate,
  declare,
  revoke,
  transfer,
}

/** The row of a kind. It takes operations of that kind alone, which the compiler cannot follow. */
export function operationRow(kind: OperationName): OperationRow<ParsedOperation['kind']> {
  return operations[kind] as OperationRow<ParsedOperation['kind']>
}
