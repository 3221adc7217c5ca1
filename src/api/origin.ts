import { isIP } from 'node:net'
import type { IncomingHttpHeaders } from 'node:http'

/** The addresses that HTTP listens on unless told otherwise: this machine's own. */
export const loopbackHosts = ['127.0.0.1', '::1']

/** Whether the other end of a connection is this machine. */
export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(::ffff:)?127\.|^::1$/.test(address)
}

/**
 * Whether a page of another site may be behind a request. Browsers say where a request comes from, in Sec-Fetch-Site or
 * Origin; programs say neither. A name other than localhost in Host could be one that an attacker points at this machine
 * to make his page look like ours, so a browser has to call it by its address.
 */
function isCrossSite(headers: IncomingHttpHeaders): boolean {
  const { origin, host } = headers
  const site = headers['sec-fetch-site']
  if (origin === undefined && site === undefined) return false
  if (site !== undefined && site !== 'same-origin' && site !== 'same-site' && site !== 'none') return true
  const own = hostName(`http://${host ?? ''}`)
  if (own === undefined || (own !== 'localhost' && isIP(own) === 0)) return true
  return origin !== undefined && hostName(origin) !== own
}

/** Why a page of another site may not do what it asks for; undefined: it is none. */
export function crossSiteRefusal(headers: IncomingHttpHeaders): string | undefined {
  return isCrossSite(headers) ? 'a page of another site may not do this' : undefined
}

function hostName(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '') : undefined
}

/** Whether a body is announced as JSON. */
export function isJson(headers: IncomingHttpHeaders): boolean {
  return headers['content-type']?.split(';')[0]?.trim().toLowerCase() === 'application/json'
}
