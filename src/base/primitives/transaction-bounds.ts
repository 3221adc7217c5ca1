/** Bounds of one transaction that the pools of this program hold, and wallets keep to. Policy, not consensus; other nodes may differ. */
export interface TransactionBounds {
  /** Bytes, the signatures included. */
  readonly size: number
  readonly inputs: number
  /** Signature checks for its programs. */
  readonly signatureCost: number
}

export const transactionBounds = {
  /**
   * The largest DID operation is shorter; longer transactions take long to read.
   * @limit bytes: a transaction that enters the pool
   */
  size: 200_000,
  /** @limit count: inputs of a transaction that enters the pool */
  inputs: 1_000,
  /** @limit count: signature checks for the programs of a transaction that enters the pool */
  signatureCost: 300,
} as const
