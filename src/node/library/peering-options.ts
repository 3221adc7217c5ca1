import { requireKnown } from '../../base/primitives/known-members.js'
import { requireObject, requireWhole } from '../../clients/client/arguments.js'
import { isPrivateKey } from '../../base/crypto/keys.js'
import { UserError } from '../../base/errors/rule-error.js'
import { isPeerAddress, addressHint } from '../../network/address/address-text.js'
import { parseAssumed } from '../../network/assumed-block.js'
import {
  listenForm,
  maxListedPeers,
  mayListen,
  networkDefaults,
  networkOptions,
  type NetworkTarget,
} from '../../network/network-options.js'
import { portOf } from '../ports.js'
import type { NodeOptions, NodeValidator } from '../node.js'
import type { NodePeering } from '../open-peering.js'
import { fromHex } from '../../base/primitives/bytes.js'
import type { Spec } from '../../base/primitives/spec.js'
import type { CreateNodeOptions } from './node-types.js'

/** How a node has peers, and what it sets of the network. */
type Peering = NodePeering & { readonly network: Partial<NetworkTarget> }

/** Peering and validator of a node. A {@link UserError} names an option that is wrong or has no use. */
export function peeringOptions(
  options: CreateNodeOptions,
  spec: Spec,
): Pick<NodeOptions, 'validator'> & { readonly peering?: Peering } {
  const peering = peeringOf(options)
  const validator = validatorOf(options)
  if (peering !== undefined && spec.devnet) {
    throw new UserError(`peers, listen, mdns: ${spec.name} is a devnet, and a devnet has one node`)
  }
  if (validator !== undefined) {
    if (spec.devnet) throw new UserError(`validatorKey: ${spec.name} is a devnet, which has its own`)
    if (!spec.hasValidators) throw new UserError(`validatorKey: ${spec.name} is a chain without validators`)
    if (options.dataDir === undefined) {
      throw new UserError('validatorKey: dataDir is needed too, for what the key has signed must outlive the node')
    }
  }
  return { ...(peering && { peering }), ...(validator && { validator }) }
}

function peeringOf({ peers, listen, mdns, assumeValid }: CreateNodeOptions): Peering | undefined {
  const { port, hosts } = listening(listen)
  const network = {
    hosts,
    peers: addresses(peers),
    mdns: requireBoolean('mdns', mdns),
    ...assumed(assumeValid),
  }
  if (peers !== undefined || network.mdns || port !== undefined) return { port, network }
  if (assumeValid === undefined) return undefined
  throw new UserError('assumeValid: a node without peers, listen or mdns learns no chain')
}

function addresses(peers: CreateNodeOptions['peers'] = []): readonly string[] {
  if (!Array.isArray(peers) || peers.length > maxListedPeers) {
    throw new UserError(`peers: a list of at most ${maxListedPeers} addresses is needed`)
  }
  for (const address of peers as readonly unknown[]) requireAddress('peers', address)
  return peers
}

/** Checks the address of a node; a {@link UserError} lists the accepted forms. */
export function requireAddress(name: string, address: unknown): string {
  if (typeof address === 'string' && isPeerAddress(address)) return address
  const hint = typeof address === 'string' ? addressHint(address) : ''
  const forms = 'host:port, nor a multiaddr such as /ip4/192.0.2.7/tcp/20338'
  throw new UserError(`${name}: ${String(address).slice(0, 80)} is neither ${forms}${hint}`)
}

function listening(listen: CreateNodeOptions['listen'] = false): NodePeering & Pick<NetworkTarget, 'hosts'> {
  if (listen === false) return { hosts: [], port: undefined }
  const given = listen === true ? {} : requireObject('listen: neither true nor an object', listen)
  // A misspelt `hosts` would open the node to all addresses.
  requireKnown('listen', given, ['port', 'hosts'])
  const { port = portOf('p2p'), hosts = networkDefaults.hosts } = given
  if (!Array.isArray(hosts) || hosts.length === 0 || !hosts.every((host) => mayListen(String(host)))) {
    throw new UserError(`listen.hosts: a list of IP addresses to listen on is needed, ${listenForm}`)
  }
  return { hosts, port: requireWhole('listen.port', port, [0, 0xffff]) }
}

function assumed(assumeValid: CreateNodeOptions['assumeValid']): Pick<NetworkTarget, 'assumeValid'> {
  if (assumeValid === undefined) return {}
  const block = parseAssumed(String(assumeValid))
  if (block === undefined) throw new UserError(`assumeValid: it is ${networkOptions.assumeValid.expects}`)
  return { assumeValid: block }
}

function validatorOf({ validatorKey, validatorSigner, resetSignState }: CreateNodeOptions): NodeValidator | undefined {
  if (validatorKey === undefined && validatorSigner === undefined) {
    if (resetSignState === undefined) return undefined
    throw new UserError('resetSignState: it is for a node with a validatorKey')
  }
  const reset = resetOf(resetSignState)
  if (validatorKey === undefined) {
    if (typeof validatorSigner === 'string' && validatorSigner !== '') return { signer: validatorSigner, ...reset }
    throw new UserError('validatorSigner: it is the path of the socket of a signer')
  }
  if (validatorSigner !== undefined) throw new UserError('validatorSigner: validatorKey is a key already')
  const key = typeof validatorKey === 'string' ? fromHex(validatorKey.trim()) : validatorKey
  if (!(key instanceof Uint8Array) || !isPrivateKey(key)) {
    throw new UserError('validatorKey: one private key of P-256 is needed, as 32 bytes or 64 hex digits')
  }
  return { key, ...reset }
}

function resetOf(resetSignState: CreateNodeOptions['resetSignState']): Pick<NodeValidator, 'resetSignState'> {
  if (resetSignState === undefined) return {}
  if (resetSignState === 'next' || resetSignState === 'now') return { resetSignState }
  throw new UserError("resetSignState: it is 'next' or 'now'")
}

function requireBoolean(name: string, value = false): boolean {
  if (typeof value === 'boolean') return value
  throw new UserError(`${name}: it is true or false`)
}
