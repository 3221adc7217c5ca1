/** Pool policy, not consensus; other nodes may differ. */
export const policy = {
  /** Bytes of one transaction. The largest DID operation is shorter; longer transactions take long to read. */
  transactionSize: 200_000,
  /** Inputs of one transaction. */
  inputs: 1_000,
  /** Signature cost of the programs of one transaction. */
  signatureCost: 300,
  /** Share of the document bytes per block that one transaction may make a node read: 1 MiB. */
  documentShare: 1 / 16,
  /** Bytes of all pooled transactions. */
  poolSize: 20_000_000,
  /** Bytes left by an eviction, so that not every transaction into a full pool starts one. */
  poolSizeAfterEviction: 19_000_000,
  /** Bytes of a block reserved for the coinbase; transactions that need them are refused. */
  coinbaseRoom: 1000,
  /** Unconfirmed ancestors of one transaction. */
  ancestors: 25,
  /** Pending operations of one DID. */
  didOperations: 8,
  /** Milliseconds a transaction may wait for a block. */
  expiry: 72 * 60 * 60 * 1000,
  /** Drop reasons remembered. */
  droppedReasons: 10_000,
} as const

/** Limits of a pool of another size; an eviction leaves the same share. */
export function poolLimits({ size, expiry }: { readonly size: number; readonly expiry: number }): Partial<PoolLimits> {
  const { poolSize, poolSizeAfterEviction } = policy
  return { poolSize: size, poolSizeAfterEviction: Math.floor((size / poolSize) * poolSizeAfterEviction), expiry }
}

/** Limits of a pool; {@link policy} by default. */
export type PoolLimits = { readonly [Name in keyof typeof policy]: number }
