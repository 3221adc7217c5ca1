import { familyOf } from '../base/runtime/ip-family.js'
import { Type } from '@sinclair/typebox'
import { onOrOff, optionsFor, wholeNumber } from '../base/runtime/option.js'
import { isPeerAddress, addressHint } from './address/address-text.js'
import { isLinkLocal } from './address/ip-address.js'
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
  /** Node that a follower follows: URL of its REST port, or its address for peers. */
  readonly follow?: string
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

/** Completes the form of {@link mayListen} in messages. */
export const listenForm = 'of which none is link-local (fe80::…): those other nodes cannot dial'

/** Whether a node may listen for others on an address; multiaddrs, by which others dial it, hold no interface. */
export function mayListen(host: string): boolean {
  return familyOf(host) !== 0 && !isLinkLocal(host)
}

const { option, tuning, table } = optionsFor<NetworkTarget>(['start'])

/** @limit count: addresses of `network.peers`, and of `peers` of the library */
export const maxListedPeers = 64

export const networkOptions = table('network', {
  peers: option({
    flag: '--peer <address...>',
    schema: Type.Array(Type.String({ minLength: 1, maxLength: 512 }), {
      minItems: 1,
      maxItems: maxListedPeers,
      uniqueItems: true,
    }),
    description: 'nodes to connect to, and to come back to: host:port, or a multiaddr as nodes print it',
    expects: `a list of 1 to ${maxListedPeers} different addresses such as 192.0.2.7:20338 or /ip4/192.0.2.7/tcp/20338`,
    check: (addresses) => addresses.every(isPeerAddress),
    hint: (addresses) => addresses.map(addressHint).find((hint) => hint !== '') ?? '',
  }),
  follow: option({
    flag: '--follow <node>',
    schema: Type.String({ minLength: 1, maxLength: 512 }),
    description:
      'be a follower of this node: take its blocks, pass transactions on to it, have no pool and no vote; URL of its REST port, or its address for peers',
    expects: 'a URL such as http://192.0.2.7:20334, or an address such as 192.0.2.7:20338 or /ip4/192.0.2.7/tcp/20338',
    check: (node) => isPeerAddress(node) || (/^https?:\/\//i.test(node) && URL.canParse(node)),
    hint: addressHint,
  }),
  hosts: option({
    flag: '--p2p-host <address...>',
    schema: Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 16, uniqueItems: true }),
    default: networkDefaults.hosts,
    description: 'addresses to listen on for other nodes',
    expects: `a list of 1 to 16 different IP addresses, ${listenForm}`,
    check: (hosts) => hosts.every(mayListen),
  }),
  enabled: option({
    flag: '--no-p2p',
    ...onOrOff(networkDefaults.enabled),
    description: 'have nothing to do with other nodes',
  }),
  mdns: option({
    flag: '--mdns',
    ...onOrOff(networkDefaults.mdns),
    description: 'look for nodes in the local network by multicast DNS, and be found there',
  }),
  assumeValid: option((text) => ({ assumeValid: parseAssumed(text) }), {
    flag: '--assume-valid <height:hash>',
    schema: Type.String({ maxLength: 80 }),
    description: 'trust the signatures of this block and of those below it once it is on the chain that peers prove',
    expects: 'a height, a colon and the 64 hex digits of the hash of the block there',
    check: (text) => parseAssumed(text) !== undefined,
  }),
  outbound: tuning({
    flag: '--outbound <n>',
    ...wholeNumber(0, 64, 'connections'),
    default: networkDefaults.outbound,
    description: 'connections that the node opens and keeps; those to --peer come on top',
  }),
  inbound: tuning({
    flag: '--inbound <n>',
    ...wholeNumber(0, 1000, 'connections'),
    default: networkDefaults.inbound,
    description: 'connections that it takes from others',
  }),
  inboundPerHost: tuning({
    flag: '--inbound-per-host <n>',
    ...wholeNumber(1, 1000, 'connections'),
    default: networkDefaults.inboundPerHost,
    description:
      'of these, those of one IP address, or one /64 of IPv6, also of private networks; on loopback half of them all if that is more',
  }),
})
