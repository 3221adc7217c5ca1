import { parseDisplayHash } from '../../../base/primitives/bytes.js'
import type { DidOperation } from '../../../base/primitives/did-operation.js'
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
      if (operation.operation !== 'deactivate') return []
      const pending = pool.operations(operation.payload)
      if (pending.some(({ did }) => did?.state.status === 'deactivated')) return []
      const updates = pending.filter(({ transaction: { payload } }) => {
        return payload.type === txType.did && payload.operation.operation === 'update'
      })
      const replaced = pool.withDescendants(updates)
      // A deactivate that spends change of such an update can only follow it.
      return spendsFrom(newcomer, replaced) ? [] : replaced
    },
    // Newest first, as each takes later ones along. A stolen key can make any number of them, but must not delay a deactivate.
    crowding(pool, { operation }) {
      if (operation.operation !== 'deactivate') return []
      return pool
        .operations(operation.payload)
        .filter(({ did }) => did?.credential !== undefined)
        .reverse()
    },
  },
}
