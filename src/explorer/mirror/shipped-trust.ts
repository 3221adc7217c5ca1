import devnet from '../../../genesis/devnet.trust.json' with { type: 'json' }
import localnet from '../../../genesis/localnet.trust.json' with { type: 'json' }
import pow from '../../../genesis/pow.trust.json' with { type: 'json' }

const shipped: ReadonlyMap<string, object> = new Map([devnet, localnet, pow].map((trust) => [trust.chain, trust]))

/** The Trust that the page has of a chain by its id, display hex; undefined for chains that do not come with didledger. */
export function shippedTrust(chain: unknown): object | undefined {
  return typeof chain === 'string' ? shipped.get(chain) : undefined
}
