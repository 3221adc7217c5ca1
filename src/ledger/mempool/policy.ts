import { transactionBounds } from '../../base/primitives/transaction-bounds.js'

/** Pool policy, not consensus; other nodes may differ. */
export const policy = {
  transactionSize: transactionBounds.size,
  inputs: transactionBounds.inputs,
  signatureCost: transactionBounds.signatureCost,
  /** @limit part: documents that a transaction makes a node read, as a part of those of a block */
  documentShare: 1 / 16,
  /** @limit bytes: all pooled transactions */
  poolSize: 20_000_000,
  /** @tuning part: room for new transactions beside a full pool of which some wait for re-evaluation, as a part of its size */
  roomBeside: 1 / 20,
  /** Time in which the least price of a byte sinks by half while the pool is at least half full, in ms; faster below. */
  floorHalfLife: 60 * 60 * 1000,
  /** By how much that price is above the one of what was evicted, in sela (10^-8 coins) for 1000 bytes. */
  floorStep: 10,
  /** @limit bytes: room for the coinbase in a template; transactions that need it are refused */
  coinbaseRoom: 1000,
  /** @limit count: unconfirmed ancestors of a transaction */
  ancestors: 25,
  /** @limit count: pending operations of a DID; a deactivate has one more place */
  didOperations: 8,
  /** @limit count: waiting transactions that one replaces because it spends the same and pays more */
  replacements: 16,
  /** @limit ms: wait of a transaction for a block */
  expiry: 72 * 60 * 60 * 1000,
  /** @tuning count: kept reasons of dropped transactions */
  droppedReasons: 10_000,
} as const

/** Limits of a pool; {@link policy} by default. */
export type PoolLimits = { readonly [Name in keyof typeof policy]: number }
