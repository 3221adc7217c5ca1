import { familyOf } from '../../../base/runtime/ip-family.js'
import type { IncomingHttpHeaders } from 'node:http'

/** Addresses that HTTP listens on by default: loopback. */
export const loopbackHosts = ['127.0.0.1', '::1']

/** Headers of an answer that pages may read. */
export const exposed = ['etag', 'location', 'retry-after', 'x-chain-height', 'x-chain-age']

/** Headers by which a page of any origin may read an answer, and what stands in its own headers. */
export const anyOrigin = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': exposed.join(', '),
}

/** @limit count: origins whose pages a devnet may be told to let in */
export const maxAllowedOrigins = 16
/** @tuning characters: an origin; a name of DNS has 253 */
const longestNamed = 280

/**
 * An origin as browsers send it: scheme and host in lowercase, no default port. Undefined for what is no origin of a page over HTTP,
 * or has more than that, such as a path or a slash at the end.
 */
export function originOf(text: string): string | undefined {
  if (!/^https?:\/\/[^/\\?#@\s]+$/i.test(text) || text.length > longestNamed || !URL.canParse(text)) return undefined
  const { origin, hostname } = new URL(text)
  // A browser takes more; of a refusal that names an origin these characters are safe in every shell.
  return familyOf(hostname.replace(/^\[|\]$/g, '')) !== 0 || /^[a-z0-9._-]+$/.test(hostname) ? origin : undefined
}

/** Whether a remote address is this machine. */
export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(::ffff:)?127\.|^::ffff:7f[0-9a-f]{2}:|^::1$/.test(address)
}

/**
 * Reason to refuse a change by the name in Host, for a request from this machine; undefined: allowed. A page can have its own
 * name resolve to this machine: its requests then look like those of local programs.
 */
export function hostRefusal({ host }: IncomingHttpHeaders, names: readonly string[]): string | undefined {
  // Only programs leave it out.
  if (host === undefined) return undefined
  const own = nameIn(host)
  if (own !== undefined && (isLoopbackName(own) || names.includes(own))) return undefined
  return `Host is ${host.slice(0, 200)}, which api.hostNames does not name; this is refused by such a name`
}

/**
 * Whether a page of another site may be behind a request: another host, or another port of the same. Browsers send the origin in
 * Sec-Fetch-Site, Origin or Referer; programs send none. A browser has to call the node by an address, or by a configured name.
 */
export function isCrossSite(headers: IncomingHttpHeaders, names: readonly string[]): boolean {
  const { origin, host, referer } = headers
  const site = headers['sec-fetch-site']
  if (origin === undefined && site === undefined && referer === undefined) return false
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true
  if (!isOwnHost(headers, names)) return true
  return [origin, referer].some((from) => from !== undefined && !isSameOrigin(from, host ?? ''))
}

/** Whether Host is an address, a name of this machine, or a configured name: a page cannot make these its own. */
export function isOwnHost({ host = '' }: IncomingHttpHeaders, names: readonly string[]): boolean {
  const own = nameIn(host)
  return own !== undefined && (isLoopbackName(own) || familyOf(own) !== 0 || names.includes(own))
}

/** Whether a URL has the host and port of Host; a port left out is that of the URL's scheme. */
function isSameOrigin(url: string, host: string): boolean {
  if (!URL.canParse(url)) return false
  const from = new URL(url)
  const own = `${from.protocol}//${host}`
  return URL.canParse(own) && from.host !== '' && new URL(own).host === from.host
}

export function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || (familyOf(name) !== 0 && isLoopback(name))
}

/** Whether the host of a URL is this machine. */
export function isLoopbackUrl(url: string): boolean {
  const name = hostName(url)
  return name !== undefined && isLoopbackName(name)
}

function nameIn(host: string): string | undefined {
  return isHostForm(host) ? hostName(`http://${host}`) : undefined
}

/**
 * Whether a header Host has the form of one: a name or an address, and perhaps a port (RFC 9112 §3.2). Some clients write the zone of a
 * link-local address too.
 */
export function isHostForm(host: string): boolean {
  return /^(?:\[[0-9A-Fa-f:.]+(?:%[\w.~%-]+)?\]|[^\s/?#@:[\]\\]*)(?::\d*)?$/.test(host)
}

/** A name or address as {@link hostName} finds it in Host; undefined for what is more than that, such as one with a port. */
export function configuredName(text: string): string | undefined {
  const host = familyOf(text) === 6 ? `[${text}]` : text
  return isHostForm(host) && !/:\d*$/.test(host) && !host.includes('*') ? hostName(`http://${host}`) : undefined
}

/** The host of a URL in lowercase, without brackets and a dot at its end. */
function hostName(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined
  return new URL(url).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
}

/** Whether the content type is JSON. */
export function isJson(headers: IncomingHttpHeaders): boolean {
  return headers['content-type']?.split(';')[0]?.trim().toLowerCase() === 'application/json'
}
