import { isIP } from 'node:net'
import { Type } from '@sinclair/typebox'
import { option, wholeNumber } from '../runtime/option.js'
import { isPeerAddress } from './address/address-text.js'
import { parseAssumed } from './assumed-block.js'
import { inboundPerHost } from './peers/inbound-places.js'

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
  }),
  hosts: option({
    key: 'network.hosts',
    flag: '--p2p-host <address...>',
    schema: Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 16, uniqueItems: true }),
    default: ['0.0.0.0', '::'],
    description: 'addresses to listen on for other nodes',
    expects: 'a list of 1 to 16 different IP addresses',
    check: (hosts) => hosts.every((host) => isIP(host) !== 0),
    commands,
  }),
  enabled: option({
    key: 'network.enabled',
    flag: '--no-p2p',
    schema: Type.Boolean(),
    default: true,
    description: 'have nothing to do with other nodes',
    expects: 'true or false',
    commands,
  }),
  mdns: option({
    key: 'network.mdns',
    flag: '--mdns',
    schema: Type.Boolean(),
    default: false,
    description: 'look for nodes in the local network by multicast DNS, and be found there',
    expects: 'true or false',
    commands,
  }),
  assumeValid: option({
    key: 'network.assumeValid',
    flag: '--assume-valid <height:hash>',
    schema: Type.String({ maxLength: 80 }),
    description: 'trust the signatures of this block and of those below it once it is on the chain that peers prove',
    expects: 'a height, a colon and the 64 hex digits of the hash of the block there',
    check: (text) => parseAssumed(text) !== undefined,
    commands,
  }),
  outbound: option({
    key: 'network.outbound',
    flag: '--outbound <n>',
    ...wholeNumber(0, 64, 'a number of connections'),
    default: 8,
    description: 'connections that the node opens and keeps; those to --peer come on top',
    unit: 'connections',
    tuning: true,
    commands,
  }),
  inbound: option({
    key: 'network.inbound',
    flag: '--inbound <n>',
    ...wholeNumber(0, 1000, 'a number of connections'),
    default: 32,
    description: 'connections that it takes from others',
    unit: 'connections',
    tuning: true,
    commands,
  }),
  inboundPerHost: option({
    key: 'network.inboundPerHost',
    flag: '--inbound-per-host <n>',
    ...wholeNumber(1, 1000, 'a number of connections'),
    default: inboundPerHost,
    description:
      'of these, those of one IP address, or one /64 of IPv6, also of private networks; on loopback half of them all if that is more',
    unit: 'connections',
    tuning: true,
    commands,
  }),
}
