import type { Config } from '../config/config.js'
import { UserError } from '../errors/rule-error.js'
import { parseAssumed } from '../network/assumed-block.js'
import { networkOptions } from '../network/network-options.js'
import { nodeOptions } from '../node/node-options.js'
import { portOffsets } from '../node/serve-node.js'
import type { NodePeering, NodeValidator } from '../node/start-node.js'
import { defined } from '../primitives/defined.js'
import type { Spec } from '../primitives/spec.js'
import { storageOptions } from '../storage/storage-options.js'
import { votingOptions } from '../voting/voting-options.js'
import { waysToSet } from './config-options.js'
import { readValidatorKey } from './validator-key.js'

/** The peering of a node; undefined if it has none. */
export function peeringOf(config: Config, spec: Spec): NodePeering | undefined {
  const { enabled, peers, hosts, mdns, assumeValid, outbound, inbound, inboundPerHost } = networkOptions
  const listed = config.get(peers)
  if (spec.devnet) {
    if (listed !== undefined)
      throw useless(config, 'network.peers', `${spec.name} is a devnet, and a devnet has one node`)
    return undefined
  }
  if (!config.get(enabled)) {
    if (listed === undefined) return undefined
    throw useless(config, 'network.peers', 'network.enabled is false')
  }
  const portBase = config.get(nodeOptions.portBase)
  const assumed = parseAssumed(config.get(assumeValid) ?? '')
  return {
    hosts: config.get(hosts),
    port: portBase === 0 ? 0 : portBase + portOffsets.p2p,
    peers: listed ?? [],
    mdns: config.get(mdns),
    outbound: config.get(outbound),
    inbound: config.get(inbound),
    inboundPerHost: config.get(inboundPerHost),
    ...(assumed === undefined ? {} : { assumeValid: assumed }),
  }
}

/** Key and sign state reset of a validator; undefined if the node does not vote. */
export function validatorOf(
  config: Config,
  spec: Spec,
  resetSignState: NodeValidator['resetSignState'],
): NodeValidator | undefined {
  const file = config.get(votingOptions.validatorKey)
  if (file === undefined) {
    if (resetSignState === undefined) return undefined
    throw new UserError('--reset-sign-state is for a node with a validator key: name it with --validator-key', 2)
  }
  if (spec.devnet) throw useless(config, 'voting.validatorKey', `${spec.name} is a devnet, which has its own`)
  if (!spec.hasValidators) throw useless(config, 'voting.validatorKey', `${spec.name} is a chain without validators`)
  const key = readValidatorKey(file).privateKey
  if (config.get(storageOptions.dataDir) === undefined) {
    const why = 'a validator needs a directory of its own: what its key has signed must outlive the node'
    throw new UserError(`${why}. Give ${waysToSet(storageOptions.dataDir)}`, 2)
  }
  return { key, ...defined({ resetSignState }) }
}

function useless(config: Config, key: string, reason: string): UserError {
  const setting = config.settings.find(({ option }) => option.key === key)
  return new UserError(`${key} (${setting?.origin} ${setting?.place}) has no use: ${reason}`, 2)
}
