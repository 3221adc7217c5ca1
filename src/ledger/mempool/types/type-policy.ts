import { mapKey } from '../../../base/primitives/bytes.js'
import type { Hash } from '../../../base/primitives/hash.js'
import type { Payload } from '../../../base/primitives/payload.js'
import type { Transaction } from '../../../base/primitives/transaction.js'
import type { RowReader } from '../../storage/rows/row-reader.js'
import type { DropReason } from '../drop-reason.js'
import type { PoolEntry, PoolIndex } from '../pool-entry.js'

/** How the pool treats transactions of one type beyond coins and fees. Not consensus. */
export interface TypePolicy<P extends Payload> {
  /** Selected for blocks before all fee rates. */
  readonly first?: true
  /** Carries an operation: ordered among those of its DID, which is known once the operation is read. */
  readonly hasOperation?: true
  /** Text of the subject of which the pool holds one transaction at most. */
  subject?(payload: P): string
  /** Refuses, by throwing a RuleError, a transaction that is of no use after what the chain has. */
  refuse?(transaction: Transaction, payload: P, chain: RowReader): void
  /** Transaction that comes before this one without giving it coins. */
  follows?(payload: P): Hash | undefined
  readonly replacement?: Replacement<P>
}

interface Replacement<P extends Payload> {
  readonly reason: Extract<DropReason, { by: string }>['kind']
  /** Entries that a newcomer replaces, with their descendants; a RuleError if it must replace some and may not. */
  entries(pool: PoolIndex, newcomer: Transaction, payload: P): readonly PoolEntry[]
  /** Further entries that leave, the first one first, while their ancestors leave no place for the newcomer. */
  crowding?(pool: PoolIndex, payload: P): readonly PoolEntry[]
}

/** Whether a transaction spends an output of one of the entries. */
export function spendsFrom({ inputs }: Transaction, entries: readonly PoolEntry[]): boolean {
  const ids = new Set(entries.map(({ transaction }) => transaction.hashKey))
  return inputs.some(({ txid }) => ids.has(mapKey(txid)))
}
