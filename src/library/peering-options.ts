import { isIP } from 'node:net'
import { requireObject, requireWhole } from '../client/arguments.js'
import { isPrivateKey } from '../crypto/keys.js'
import { UserError } from '../errors.js'
import { isPeerAddress } from '../network/address-text.js'
import { networkOptions, parseAssumed } from '../network/options.js'
import type { NodeOptions, NodePeering, NodeValidator } from '../node.js'
import { fromHex } from '../primitives/bytes.js'
import type { Spec } from '../primitives/spec.js'
import { defaultPortBase, portOffsets } from '../serving.js'
import type { CreateNodeOptions, ListenOptions } from './node.js'

/** Options without which none of the others that have to do with peers means anything. */
const openers = ['peers', 'listen', 'mdns'] as const

/** How a node meets others, and what it votes with. A {@link UserError} names the option that is wrong or has no use. */
export function peeringOptions(options: CreateNodeOptions, spec: Spec): Pick<NodeOptions, 'peering' | 'validator'> {
  const peering = peeringOf(options)
  const validator = validatorOf(options)
  if (peering !== undefined && spec.devnet) {
    const name = openers.find((one) => isOn(options[one]))
    throw new UserError(`${name}: ${spec.name} is a devnet, and a devnet has one node`)
  }
  if (validator !== undefined) {
    if (spec.devnet) throw new UserError(`validatorKey: ${spec.name} is a devnet, which has its own`)
    if (!spec.hasValidators) throw new UserError(`validatorKey: ${spec.name} is a chain without validators`)
    if (options.dataDir === undefined) {
      throw new UserError('validatorKey: dataDir is needed too, for what a key has signed must outlive the node')
    }
  }
  return { ...(peering && { peering }), ...(validator && { validator }) }
}

/** `true` by a name of its own, for `false` and absence switch the same things off. */
function isOn(value: unknown): boolean {
  return value !== undefined && value !== false
}

function peeringOf({ peers = [], listen = false, mdns = false, ...options }: CreateNodeOptions) {
  const { outbound, inbound } = networkOptions
  const peering: NodePeering = {
    peers: addresses(peers),
    ...places(listen),
    mdns: requireBoolean('mdns', mdns),
    outbound: outbound.default,
    inbound: inbound.default,
    ...assumed(options),
  }
  if (isOn(options.peersGiven)) return peering
  return peering
}
