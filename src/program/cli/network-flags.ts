import type { Config } from '../../node/config/config.js'
import { UserError } from '../../base/errors/rule-error.js'
import { portOf } from '../../node/ports.js'
import type { NodeValidator } from '../../node/node.js'
import type { NodePeering } from '../../node/open-peering.js'
import { defined } from '../../base/primitives/defined.js'
import type { Spec } from '../../base/primitives/spec.js'
import { readValidatorKey } from './validator-key.js'

/** The peering of a node; undefined if it has none. */
export function peeringOf(config: Config, spec: Spec): NodePeering | undefined {
  const { enabled, peers } = config.tuning.network ?? {}
  if (spec.devnet) {
    if (peers !== undefined)
      throw useless(config, 'network.peers', `${spec.name} is a devnet, and a devnet has one node`)
    return undefined
  }
  if (enabled === false) {
    if (peers === undefined) return undefined
    throw useless(config, 'network.peers', 'network.enabled is false')
  }
  return { port: portOf('p2p', config.tuning.node?.portBase) }
}

/** The node to follow, as the owner names it; undefined: the node is no follower. Refuses settings that a follower has no use for. */
export function followOf(config: Config, spec: Spec): string | undefined {
  const { network = {}, voting = {}, mining = {} } = config.tuning
  const { follow, enabled, peers } = network
  if (follow === undefined) return undefined
  if (spec.devnet) throw useless(config, 'network.follow', `${spec.name} is a devnet, and a devnet has one node`)
  if (enabled === false) throw useless(config, 'network.follow', 'network.enabled is false')
  const why = 'network.follow makes the node a follower'
  if (peers !== undefined) throw useless(config, 'network.peers', `${why}, whose one peer is the node that it follows`)
  if (voting.keyFile !== undefined) throw useless(config, 'voting.validatorKey', `${why}, which does not vote`)
  if (voting.signer !== undefined) throw useless(config, 'voting.validatorSigner', `${why}, which does not vote`)
  if (mining.payTo !== undefined) throw useless(config, 'mining.payTo', `${why}, which makes no blocks`)
  return follow
}

/** Key and sign state reset of a validator; undefined if the node does not vote. */
export function validatorOf(
  config: Config,
  spec: Spec,
  resetSignState: NodeValidator['resetSignState'],
): NodeValidator | undefined {
  const { keyFile, signer } = config.tuning.voting ?? {}
  if (keyFile === undefined && signer === undefined) {
    if (resetSignState === undefined) return undefined
    throw new UserError('--reset-sign-state is for a node with a validator key: name it with --validator-key', 2)
  }
  const name = keyFile === undefined ? 'voting.validatorSigner' : 'voting.validatorKey'
  if (spec.devnet) throw useless(config, name, `${spec.name} is a devnet, which has its own`)
  if (!spec.hasValidators) throw useless(config, name, `${spec.name} is a chain without validators`)
  if (keyFile === undefined) return { signer: signer ?? '', ...defined({ resetSignState }) }
  if (signer !== undefined) throw useless(config, 'voting.validatorSigner', 'voting.validatorKey names a key')
  return { key: readValidatorKey(keyFile).privateKey, ...defined({ resetSignState }) }
}

function useless(config: Config, key: string, reason: string): UserError {
  const setting = config.settings.find(({ option }) => option.key === key)
  return new UserError(`${key} (${setting?.origin} ${setting?.place}) has no use: ${reason}`, 2)
}
