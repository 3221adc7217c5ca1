import { isIP } from 'node:net'
import { Type } from '@sinclair/typebox'
import { optionsFor, wholeNumber } from '../base/runtime/option.js'
import { isPeerAddress } from './address/address-text.js'
import { type AssumedBlock, parseAssumed } from './assumed-block.js'
import { inboundPerHost } from './peers/inbound-places.js'
import type { PeerSettings } from './peers/peer-settings.js'

/** Settings made by the options of the network. */
export interface NetworkTarget extends PeerSettings {
  /** Whether the node has peers at all. */
  readonly enabled: boolean
  /** IP addresses to listen on. */
  readonly hosts: readonly string[]
  /** Whether to look for nodes in the local network, and to be found there. */
  readonly mdns: boolean
  /** Block up to which signatures are not verified, once peers have proved that it is on the chain. */
  readonly assumeValid?: AssumedBlock
}

/** Settings of a node without options. */
export const networkDefaults = {
  enabled: true,
  hosts: ['0.0.0.0', '::'],
  peers: [],
  mdns: false,
  outbound: 8,
  inbound: 32,
  inboundPerHost,
} satisfies NetworkTarget

const option = optionsFor<'network', NetworkTarget>()

/** @limit count: addresses of `network.peers`, and of `peers` of the library */
export const maxListedPeers = 64
const commands = ['start'] as const

export const networkOptions = {
  peers: option({
    key: 'network.peers',
    flag: '--peer <address...>',
    schema: Type.Array(Type.String({ minLength: 1, maxLength: 512 }), {
      minItems: 1,
      maxItems: maxListedPeers,
      uniqueItems: true,
    }),
    description: 'nodes to connect to, and to come back to: host:port, or a multiaddr as nodes print it',
    expects: `a list of 1 to ${maxListedPeers} different addresses such as 192.0.2.7:20338 or /ip4/192.0.2.7/tcp/20338`,
    check: (addresses) => addresses.every(isPeerAddress),
    commands,
    sets: 'peers',
  }),
  hosts: option({
    key: 'network.hosts',
    flag: '--p2p-host <address...>',
    schema: Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 16, uniqueItems: true }),
    default: networkDefaults.hosts,
    description: 'addresses to listen on for other nodes',
    expects: 'a list of 1 to 16 different IP addresses',
    check: (hosts) => hosts.every((host) => isIP(host) !== 0),
    commands,
    sets: 'hosts',
  }),
  enabled: option({
    key: 'network.enabled',
    flag: '--no-p2p',
    schema: Type.Boolean(),
    default: networkDefaults.enabled,
    description: 'have nothing to do with other nodes',
    expects: 'true or false',
    commands,
    sets: 'enabled',
  }),
  mdns: option({
    key: 'network.mdns',
    flag: '--mdns',
    schema: Type.Boolean(),
    default: networkDefaults.mdns,
    description: 'look for nodes in the local network by multicast DNS, and be found there',
    expects: 'true or false',
    commands,
    sets: 'mdns',
  }),
  assumeValid: option({
    key: 'network.assumeValid',
    flag: '--assume-valid <height:hash>',
    schema: Type.String({ maxLength: 80 }),
    description: 'trust the signatures of this block and of those below it once it is on the chain that peers prove',
    expects: 'a height, a colon and the 64 hex digits of the hash of the block there',
    check: (text) => parseAssumed(text) !== undefined,
    commands,
    sets: (text) => ({ assumeValid: parseAssumed(text) }),
  }),
  outbound: option({
    key: 'network.outbound',
    flag: '--outbound <n>',
    ...wholeNumber(0, 64, 'a number of connections'),
    default: networkDefaults.outbound,
    description: 'connections that the node opens and keeps; those to --peer come on top',
    unit: 'connections',
    tuning: true,
    commands,
    sets: 'outbound',
  }),
  inbound: option({
    key: 'network.inbound',
    flag: '--inbound <n>',
    ...wholeNumber(0, 1000, 'a number of connections'),
    default: networkDefaults.inbound,
    description: 'connections that it takes from others',
    unit: 'connections',
    tuning: true,
    commands,
    sets: 'inbound',
  }),
  inboundPerHost: option({
    key: 'network.inboundPerHost',
    flag: '--inbound-per-host <n>',
    ...wholeNumber(1, 1000, 'a number of connections'),
    default: networkDefaults.inboundPerHost,
    description:
      'of these, those of one IP address, or one /64 of IPv6, also of private networks; on loopback half of them all if that is more',
    unit: 'connections',
    tuning: true,
    commands,
    sets: 'inboundPerHost',
  }),
}
