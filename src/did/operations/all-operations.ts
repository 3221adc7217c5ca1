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
