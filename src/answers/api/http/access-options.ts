/** Options for how clients reach the node. */
export interface AccessOptions {
  /** Host names, beside loopback names, under which the node may be changed. */
  readonly hostNames: readonly string[]
  /** IP addresses, or networks such as 10.0.0.0/8, of trusted proxies; empty: clients connect directly. */
  readonly trustedProxies: readonly string[]
  /** Header, in lowercase, in which these proxies give the client address. */
  readonly clientHeader: string
}

export const accessDefaults: AccessOptions = { hostNames: [], trustedProxies: [], clientHeader: 'x-forwarded-for' }
