import { familyOf } from '../../base/runtime/ip-family.js'

/** Endpoints of nodes, and their reach, address group and site. */

export interface Endpoint {
  /** IPv4 or IPv6 address, or a host name; without brackets. */
  readonly host: string
  readonly port: number
}

/** Reads `host:port`, an IPv6 host in brackets, or a multiaddr over TCP; undefined for any other text. */
export function parseEndpoint(text: string): Endpoint | undefined {
  const [, version, bracketed, plain, digits = ''] =
    /^(?:\/(?:ip([46])|dns[46]?)\/)?(?:\[([^\]]+)\]|([^[\]/]+?))(?::|\/tcp\/)([1-9][0-9]{0,4})(?:\/p2p\/\w+)?$/.exec(
      text,
    ) ?? []
  const host = bracketed ?? plain ?? ''
  const port = Number(digits)
  const six = bracketed !== undefined || version === '6'
  if (digits === '' || port > 0xffff || (six ? familyOf(host) !== 6 : host.includes(':'))) return undefined
  return { host: plainHost(host), port }
}

/** `host:port`, an IPv6 host in brackets. */
export function endpointText({ host, port }: Endpoint): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/**
 * Normal form of a host for comparison: lower case; an IPv4-mapped IPv6 address, in any spelling, becomes IPv4, and another one of IPv6 is
 * written as systems write it (RFC 5952).
 */
export function plainHost(host: string): string {
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(host) ?? []
  if (mapped !== undefined) return mapped
  const lower = host.toLowerCase()
  return familyOf(lower) === 6 ? plainHost6(lower) : lower
}

function plainHost6(host: string): string {
  const parts = words(host)
  const [high = 0, low = 0] = parts.slice(6)
  const isMapped = parts.slice(0, 5).every((word) => word === 0) && parts[5] === 0xffff
  if (isMapped) return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
  const [, zone = ''] = /(%.*)$/.exec(host) ?? []
  return `${new URL(`http://[${wordsText(parts)}]`).hostname.slice(1, -1)}${zone}`
}

/** Reach of an address: this machine, the local network, or everywhere. */
export type Reach = 'machine' | 'network' | 'world'

/** The reach of an IP address; undefined if it is no unicast address of a node. */
export function reachOf(host: string): Reach | undefined {
  const kind = familyOf(host)
  if (kind === 4) return reachOf4(host)
  if (kind === 6) return reachOf6(words(host))
  return undefined
}

/** Whether an address may be sent to, or accepted from, a node at `other`: its reach must cover that node's. */
export function concerns(address: string, other: string): boolean {
  const reach = reachOf(address)
  const near = reachOf(other)
  if (reach === undefined || near === undefined) return false
  return reach === 'world' || near === 'machine' || (reach === 'network' && near === 'network')
}

/** Whether an address is one of IPv6 that means nothing without an interface: `fe80::1`, with or without `%eth0`. */
export function isLinkLocal(host: string): boolean {
  return familyOf(host) === 6 && ((words(host)[0] ?? 0) & 0xffc0) === 0xfe80
}

/** Address group, a likely common owner: IPv4 /16, IPv6 /32; this machine and local networks are one group each. */
export function groupOf(host: string): string {
  const reach = reachOf(host)
  if (reach !== 'world') return reach ?? host
  if (familyOf(host) === 4) return host.split('.').slice(0, 2).join('.')
  return wordsText(words(host).slice(0, 2))
}

/**
 * Site, counted and banned as one machine: an IPv4 address, or a /64 of IPv6. Form: a host of {@link plainHost}, or
 * four words and `::/64`.
 */
export function siteOf(host: string): string {
  const plain = plainHost(host)
  const many = familyOf(plain) === 6 && reachOf(plain) === 'world'
  return many ? `${wordsText(words(plain).slice(0, 4))}::/64` : plain
}

function reachOf4(host: string): Reach | undefined {
  const [a = 0, b = 0] = host.split('.').map(Number)
  if (a === 0 || a >= 224) return undefined
  if (a === 127) return 'machine'
  const shared = a === 100 && b >= 64 && b < 128
  const local = a === 10 || (a === 172 && b >= 16 && b < 32) || (a === 192 && b === 168) || (a === 169 && b === 254)
  return local || shared ? 'network' : 'world'
}

function reachOf6(parts: readonly number[]): Reach | undefined {
  const [first = 0] = parts
  if (parts.slice(0, 7).every((word) => word === 0)) return parts[7] === 1 ? 'machine' : undefined
  if (first >= 0xff00) return undefined
  return (first & 0xfe00) === 0xfc00 || (first & 0xffc0) === 0xfe80 ? 'network' : 'world'
}

/** The eight words of an IPv6 address. */
function words(host: string): number[] {
  const [address = ''] = host.split('%')
  const [left = '', right] = address.split('::')
  const parse = (part: string) => (part === '' ? [] : part.split(':').flatMap(wordsOf))
  const head = parse(left)
  const tail = right === undefined ? [] : parse(right)
  return [...head, ...new Array<number>(Math.max(0, 8 - head.length - tail.length)).fill(0), ...tail]
}

function wordsText(parts: readonly number[]): string {
  return parts.map((word) => word.toString(16)).join(':')
}

/** One word, or two for a trailing IPv4 address. */
function wordsOf(part: string): number[] {
  if (!part.includes('.')) return [parseInt(part, 16)]
  const [a = 0, b = 0, c = 0, d = 0] = part.split('.').map(Number)
  return [a * 256 + b, c * 256 + d]
}
