/** How a URL names the first of the addresses that are listened on; all at once are reached by loopback. */
export function urlHost([host = '127.0.0.1']: readonly string[]): string {
  if (host.startsWith('[')) return urlHost([host.slice(1, -1)])
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
