import { canFollow, formOfNumber, type OperationForm } from '../../base/primitives/did-operation.js'
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

/** Each operation of a DID follows the one before; one that ends the DID is the last. */
export function didOrder({ state, count, operations }: Operations): void {
  const first = count - operations.length
  let before: OperationForm | undefined
  for (const [i, operation] of operations.entries()) {
    const form = formOfNumber(operation)
    // Of the one before the first that is shown only its effect is known: nothing follows an end.
    const fits =
      form?.subject === 'did' && (i === 0 && first > 0 ? form.after.includes('document') : canFollow(form, before))
    const ends = i === operations.length - 1 && state === 2
    if (!fits || (form.effect === 'end') !== ends)
      fail('history-order', `operation ${operation} as number ${first + i + 1}`)
    before = form
  }
}

/** A credential is declared, revoked, or both; all of it is shown. */
export function credentialOrder({ count, operations }: Operations): void {
  if (count !== operations.length) fail('history-order', 'operations of a credential are left out')
  const forms = operations.map(formOfNumber)
  const fits = forms.every((form, i) => form?.subject === 'credential' && canFollow(form, forms[i - 1]))
  if (!fits || forms.length === 0) fail('history-order', `operations ${operations.join()} of a credential`)
}
