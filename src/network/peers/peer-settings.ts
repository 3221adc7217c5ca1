/** Numbers and addresses of a node's peers. */
export interface PeerSettings {
  /** Configured addresses: dialled, and retried after each failure. */
  readonly peers: readonly string[]
  /** Outbound connections besides those. */
  readonly outbound: number
  /** Maximum inbound connections, and of these per host. */
  readonly inbound: number
  readonly inboundPerHost?: number
}
