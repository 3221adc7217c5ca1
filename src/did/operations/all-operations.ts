/**
 * DID operations: one row an operation, with how it is read and what it does to its DID.
 *
 *   parseOperation -> operationRow(kind).parse; applyOperation -> operationRow(kind).apply -> new state of the DID
 *
 * - The table is complete by type: an operation without a row does not compile; undefined is one that no chain accepts.
 * - A row reads no state but what it is given; rules of all operations stand in did-rules and apply-operation.
 */
import type { OperationName } from '../../primitives/did-operation.js'
import { create } from './create.js'
import { deactivate } from './deactivate.js'
import type { OperationRow, ParsedOperation } from './operation-row.js'
import { update } from './update.js'

type Kind = ParsedOperation['kind']

/** The rules of each operation; undefined for one that no chain accepts yet. */
const operations: { readonly [Name in OperationName]: Name extends Kind ? OperationRow<Name> : undefined } = {
  create,
  update,
  deactivate,
  declare: undefined,
  revoke: undefined,
}

/** The row of a kind. It takes operations of that kind alone, which the compiler cannot follow. */
export function operationRow(kind: Kind): OperationRow<Kind> {
  return operations[kind] as OperationRow<Kind>
}

/** Whether the chain accepts operations of a name. */
export function isAccepted(name: OperationName): name is Kind {
  return operations[name] !== undefined
}
