import { apiOptions } from '../answers/api/api-options.js'
import { cryptoOptions } from '../base/crypto/crypto-options.js'
import { devnetOptions } from './devnet/devnet-options.js'
import { mempoolOptions } from '../ledger/mempool/mempool-options.js'
import { networkOptions } from '../network/network-options.js'
import { miningOptions } from '../ledger/production/mining-options.js'
import { resolverOptions } from '../answers/resolver/resolver-options.js'
import type { Option } from '../base/runtime/option.js'
import { shippingOptions } from '../ledger/shipping/shipping-options.js'
import { storageOptions } from '../ledger/storage/storage-options.js'
import { votingOptions } from '../voting/voting-options.js'
import { gatewayOptions } from './gateway-options.js'
import { witnessOptions } from './heads/witness-options.js'
import { mirrorOptions } from '../ledger/mirror/mirror-options.js'
import { nodeOptions } from './node-options.js'

/** The options of every module, in the order of the help and the reference page. */
export const sections = {
  node: nodeOptions,
  storage: storageOptions,
  shipping: shippingOptions,
  mirror: mirrorOptions,
  api: apiOptions,
  network: networkOptions,
  voting: votingOptions,
  witness: witnessOptions,
  devnet: devnetOptions,
  mining: miningOptions,
  mempool: mempoolOptions,
  resolver: resolverOptions,
  crypto: cryptoOptions,
  gateway: gatewayOptions,
}

type Sections = typeof sections
export type Section = keyof Sections
export type OptionOf<S extends Section> = Sections[S][keyof Sections[S]]
export type OptionKey = { [S in Section]: OptionOf<S> extends { readonly key: infer Key } ? Key : never }[Section]
/** An option of some module, with its key known to the types. */
export type KeyedOption = Option & { readonly key: OptionKey }
type TargetOf<S extends Section> = OptionOf<S> extends { effect(value: never): Partial<infer Target> } ? Target : never

/** Settings of a node by options, by module; absent ones have their defaults. */
export type NodeTuning = { readonly [S in Section]?: Partial<TargetOf<S>> }

/** The one place where options become settings. `get` returns the value of an option, undefined without one. */
export function optionsToNode(get: (option: Option) => unknown): Required<NodeTuning> {
  const tuning = Object.entries<Readonly<Record<string, Option>>>(sections).map(([section, options]) => {
    const effects = Object.values(options).map((option) => {
      const value = get(option)
      return value === undefined || value === null ? {} : option.effect(value)
    })
    return [section, Object.assign({}, ...effects)] as const
  })
  return Object.fromEntries(tuning) as Required<NodeTuning>
}
