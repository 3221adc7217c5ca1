import { networkInterfaces } from 'node:os'

/**
 * How a URL names the first of the addresses that are listened on; all at once are reached by loopback. Where IPv6 is switched off, as in
 * most containers, `::` can be bound and takes connections over IPv4 alone.
 */
export function urlHost([host = '127.0.0.1']: readonly string[], addresses = addressesHere): string {
  if (host.startsWith('[')) return urlHost([host.slice(1, -1)], addresses)
  if (host === '0.0.0.0' || (host === '::' && !addresses().includes('::1'))) return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

function addressesHere(): string[] {
  return Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address))
}
