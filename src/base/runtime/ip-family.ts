import { isIP, isIPv4 } from 'node:net'

/** Addresses of IPv6 that every node binds or sees. */
const usual = ['::1', '::']

/**
 * 4 or 6 for an IP address, 0 for another text, as `isIP` of Node. Its pattern of IPv6 takes V8 some milliseconds of a start to compile,
 * and is asked of every text that is no IPv4 address: here only of those with a colon.
 */
export function familyOf(text: string): 0 | 4 | 6 {
  if (usual.includes(text)) return 6
  if (!text.includes(':')) return isIPv4(text) ? 4 : 0
  return isIP(text) === 6 ? 6 : 0
}
