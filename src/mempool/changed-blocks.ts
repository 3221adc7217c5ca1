import type { ChangedBlock } from '../chain/chain.js'
import { mapKey } from '../primitives/bytes.js'
import type { Transaction } from '../primitives/transaction.js'
import type { PoolOperation } from './pool-entry.js'

/** What blocks that were connected or disconnected mean for the pool. */

/** What of a pool entry a change of DIDs and credentials can touch. */
export interface Touchable {
  readonly did?: Pick<PoolOperation, 'id' | 'issuers'> & {
    readonly credential?: Pick<NonNullable<PoolOperation['credential']>, 'id'>
  }
}

/** Transactions of held blocks, coinbases excluded. */
export function transactionsOf(blocks: readonly ChangedBlock[]): Transaction[] {
  return blocks.flatMap(({ block }) => block?.transactions.slice(1) ?? [])
}

/** Transactions of disconnected blocks, oldest first, without those mined again. */
export function returnedBy(disconnected: readonly ChangedBlock[], connected: readonly ChangedBlock[]): Transaction[] {
  if (disconnected.length === 0) return []
  const mined = new Set(transactionsOf(connected).map(({ hash }) => mapKey(hash)))
  return transactionsOf([...disconnected].reverse()).filter(({ hash }) => !mined.has(mapKey(hash)))
}

/** Entries whose DID, issuers or credential connected blocks changed. */
export function touchedBy<E extends Touchable>(
  connected: readonly Pick<ChangedBlock, 'dids' | 'credentials'>[],
  entries: Iterable<E>,
): E[] {
  const dids = new Set(connected.flatMap((block) => block.dids))
  const credentials = new Set(connected.flatMap((block) => block.credentials))
  if (dids.size === 0 && credentials.size === 0) return []
  return [...entries].filter(({ did }) => {
    if (did === undefined) return false
    const { id, issuers, credential } = did
    return [id, ...issuers].some((one) => dids.has(one)) || credentials.has(credential?.id ?? '')
  })
}
