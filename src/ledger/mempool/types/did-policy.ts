import { namedDid } from '../../../identity/did/named-did.js'
import { parseDisplayHash } from '../../../base/primitives/bytes.js'
import { canFollow, type DidOperation, effectOf, operationForm } from '../../../base/primitives/did-operation.js'
import { txType } from '../../../base/primitives/payload.js'
import { spendsFrom, type TypePolicy } from './type-policy.js'

/**
 * A deactivate replaces pending updates of its DID; declares and revokes go with those on which they stand, and where their
 * ancestors would keep it out.
 */
export const didPolicy: TypePolicy<{ readonly type: 10; readonly operation: DidOperation }> = {
  hasOperation: true,
  follows: ({ operation }) => parseDisplayHash(operation.previousTxid ?? ''),
  replacement: {
    reason: 'did-deactivated',
    entries(pool, newcomer, { operation }) {
      const did = endedDid(operation)
      if (did === undefined) return []
      const pending = pool.operations(did)
      if (pending.some(({ did }) => did?.state.status === 'deactivated')) return []
      const updates = pending.filter(({ transaction: { payload } }) => {
        return payload.type === txType.did && changesDocument(payload.operation)
      })
      const replaced = pool.withDescendants(updates)
      // A deactivate that spends change of such an update can only follow it.
      return spendsFrom(newcomer, replaced) ? [] : replaced
    },
    // Newest first, as each takes later ones along. A stolen key can make any number of them, but must not delay a deactivate.
    crowding(pool, { operation }) {
      const did = endedDid(operation)
      if (did === undefined) return []
      return pool
        .operations(did)
        .filter(({ did }) => did?.credential !== undefined)
        .reverse()
    },
  },
}

/** The DID that an operation ends; undefined if it ends none. */
function endedDid(operation: DidOperation): string | undefined {
  return effectOf(operation) === 'end' ? namedDid(operation) : undefined
}

/** Whether an operation gives a DID that has a document another one. */
function changesDocument(operation: DidOperation): boolean {
  const form = operationForm(operation)
  return form?.effect === 'document' && !canFollow(form, undefined)
}
