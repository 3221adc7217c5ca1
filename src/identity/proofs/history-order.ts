import { operationNumber as op } from './history.js'
import { fail } from './proof-failure.js'

/** In which order operations can follow each other, for a DID and for a credential. */

/** The last operations of a history, oldest first. */
export interface Operations {
  /** State after them. */
  readonly state: number
  /** Operations of the whole history. */
  readonly count: number
  readonly operations: readonly number[]
}

/** Throws `history-order` for operations in another order. */
export type HistoryOrder = (last: Operations) => void

/** A DID is created, updated, and perhaps deactivated. */
export function didOrder({ state, count, operations }: Operations): void {
  const first = count - operations.length
  for (const [i, operation] of operations.entries()) {
    const expected =
      first + i === 0 ? op.create : i === operations.length - 1 && state === 2 ? op.deactivate : op.update
    if (operation !== expected) fail('history-order', `operation ${operation} as number ${first + i + 1}`)
  }
}

/** A credential is declared, revoked, or both; all of it is shown. */
export function credentialOrder({ count, operations }: Operations): void {
  if (count !== operations.length) fail('history-order', 'operations of a credential are left out')
  const said = operations.join()
  const possible = [[op.declare], [op.declare, op.revoke], [op.revoke]]
  if (!possible.some((order) => order.join() === said)) fail('history-order', `operations ${said} of a credential`)
}
