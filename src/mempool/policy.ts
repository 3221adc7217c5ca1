/** What the pool holds: policy, not consensus. Another node may choose otherwise. */
export const policy = {
  /** Bytes of one transaction: a DID operation with the largest payload is shorter, and reading longer ones takes long. */
  transactionSize: 200_000,
  /** Coins that it may spend. */
  inputs: 1_000,
  /** Signature cost of its programs. */
  signatureCost: 300,
  /** Part of the documents that a block may make a node read, for one transaction: 1 MiB. */
  documentShare: 1 / 16,
  /** Bytes of all pooled transactions. */
  poolSize: 20_000_000,
  /** What an eviction leaves, so that not every newcomer to a full pool starts one. */
  poolSizeAfterEviction: 19_000_000,
  /** Bytes of a block that templates keep free for its coinbase; what needs them is not accepted either. */
  coinbaseRoom: 1000,
  /** Unconfirmed ancestors of one transaction. */
  ancestors: 25,
  /** Pending operations of one DID. */
  didOperations: 8,
  /** Milliseconds a transaction may wait for a block. */
  expiry: 72 * 60 * 60 * 1000,
  /** Remembered reasons why transactions were dropped. */
  droppedReasons: 10_000,
} as const

/** Limits of a pool of another size: evictions leave the same share of it. */
export function poolLimits({ size, expiry }: { readonly size: number; readonly expiry: number }): Partial<PoolLimits> {
  const { poolSize, poolSizeAfterEviction } = policy
  return { poolSize: size, poolSizeAfterEviction: Math.floor((size / poolSize) * poolSizeAfterEviction), expiry }
}

/** Limits of a pool; {@link policy} unless told otherwise. */
export type PoolLimits = { readonly [Name in keyof typeof policy]: number }
