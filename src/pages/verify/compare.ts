import type { LightCredential, LightResult } from '../../light/proved.js'
import type { CredentialState, DidTransaction, Resolution } from '../ask/shapes.js'

/** Whether what a page shows is what was proved. */

/** `pending`: operations that are not proved yet; `newer`: proved ones that are not shown yet; `unlike`: what differs. */
export type Comparison =
  | { readonly agrees: true; readonly pending: number; readonly newer: number }
  | { readonly agrees: false; readonly unlike: string }

/**
 * Holds the part of a history that is shown against the proved operations. Those in blocks above the proved one are `pending`. Documents
 * are compared as far as they were proved.
 */
export function compareDid(shown: Resolution, { status, transaction = [], proved }: LightResult): Comparison {
  const { count = 0, entries = [] } = proved.history ?? {}
  const documents = new Map(transaction.map((one) => [one.txid, one]))
  const total = shown.total ?? 0
  let pending = 0
  for (const [i, one] of (shown.transaction ?? []).entries()) {
    const place = shown.context?.at[i]
    if (place !== undefined && place.height > proved.height) {
      pending++
      continue
    }
    const number = total - (shown.start ?? 0) - i
    if (entries[number - 1]?.txid !== one.txid) return { agrees: false, unlike: `operation ${number}` }
    const document = documents.get(one.txid)
    if (document !== undefined && !isSame(document, one)) return { agrees: false, unlike: `operation ${number}` }
  }
  // A DID that is said not to exist has no context.
  const isAsNew = (shown.context?.height ?? Infinity) >= proved.height
  if (isAsNew && total < count) return { agrees: false, unlike: `the number of operations, ${count},` }
  if (total === count && status !== shown.status) return { agrees: false, unlike: 'the state' }
  return { agrees: true, pending: Math.max(pending, total - count), newer: Math.max(0, count - total) }
}

/** The same for a credential. */
export function compareCredential(shown: CredentialState, proved: LightCredential): Comparison {
  const operations = new Map(proved.transaction?.map((one) => [one.txid, one]))
  let pending = 0
  for (const one of shown.transaction ?? []) {
    const known = operations.get(one.txid)
    if (known === undefined) pending++
    else if (!isSame(known, one)) return { agrees: false, unlike: `the ${one.operation.header.operation}` }
  }
  if (pending === 0 && shown.status !== proved.status) return { agrees: false, unlike: 'the state' }
  return { agrees: true, pending, newer: 0 }
}

function isSame(one: DidTransaction, other: DidTransaction): boolean {
  return (
    one.timestamp === other.timestamp &&
    one.operation.payload === other.operation.payload &&
    one.operation.header.operation === other.operation.header.operation
  )
}
