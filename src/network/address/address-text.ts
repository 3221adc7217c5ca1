/** Addresses and names of nodes: their texts and bytes, groups of addresses, the key behind a name. Pure; no libp2p. */
import { familyOf } from '../../base/runtime/ip-family.js'
import { isLinkLocal, parseEndpoint } from './ip-address.js'
import { keyOfPeerName } from './peer-identity.js'

/** A name to look up, absolute ones with a dot at their end too. Containers have names with `_`, which resolvers take. */
const hostName =
  /^(?=.{1,253}\.?$)(?![0-9.]+$)[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?)*\.?$/

/** Whether a text is an address to dial: `host:port` (IPv6 host in brackets) or a multiaddr over TCP. */
export function isPeerAddress(text: string): boolean {
  if (text.startsWith('/')) return isMultiaddr(text)
  const host = parseEndpoint(text)?.host
  return host !== undefined && (isAddress(host) || hostName.test(host))
}

/** Whether a host is an IP address to dial; one of IPv6 that means nothing without an interface is none, for a multiaddr holds no interface. */
function isAddress(host: string, family = familyOf(host)): boolean {
  return family !== 0 && familyOf(host) === family && !isLinkLocal(host)
}

/**
 * Ends the refusal of a text by what would make it an address to dial: a port, or another address than a link-local one. Empty for any other
 * text.
 */
export function addressHint(text: string): string {
  const { host: given = '' } = parseEndpoint(text) ?? {}
  if (isLinkLocal(given))
    return '; an address that is link-local (fe80::…) cannot be dialled, take another one of that node'
  const plain = text.replace(/:$/, '')
  const host = familyOf(plain) === 6 ? `[${plain}]` : plain
  const whole = plain.startsWith('/') ? `${plain}/tcp/20338` : `${host}:20338`
  return isPeerAddress(whole) && !isPeerAddress(text) ? `; with a port it is ${whole}` : ''
}

/** `/ip4/192.0.2.7/tcp/20338`, optionally with `/p2p/` and an id; also `ip6`, `dns`, `dns4` and `dns6`. */
function isMultiaddr(text: string): boolean {
  const [, kind = '', host = '', tcp, port = '', p2p, name = '', ...more] = text.split('/')
  const isHost =
    kind === 'ip4' ? isAddress(host, 4) : kind === 'ip6' ? isAddress(host, 6) : isDns(kind) && hostName.test(host)
  const isNamed = p2p === undefined || (p2p === 'p2p' && keyOfPeerName(name) !== undefined)
  return isHost && tcp === 'tcp' && isPort(port) && isNamed && more.length === 0
}

function isDns(kind: string): boolean {
  return kind === 'dns' || kind === 'dns4' || kind === 'dns6'
}

function isPort(text: string): boolean {
  return /^[1-9][0-9]{0,4}$/.test(text) && Number(text) <= 0xffff
}
