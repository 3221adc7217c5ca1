/** When a devnet makes blocks. */
export type MiningMode =
  /** As soon as a transaction waits. */
  | { readonly kind: 'automine' }
  /** At a fixed interval. */
  | { readonly kind: 'interval'; readonly seconds: number }
  /** Only on request. */
  | { readonly kind: 'manual' }

/** The default mode of a devnet. */
export const automine: MiningMode = { kind: 'automine' }
