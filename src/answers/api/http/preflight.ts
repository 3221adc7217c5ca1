import type { IncomingHttpHeaders } from 'node:http'
import type { HttpAnswer } from './path-row.js'

/**
 * Allows a page of any origin what it asks for: methods that are not taken are refused when they come. `origin`: headers for an
 * origin that the owner named, whose pages may also come from a public address.
 */
export function preflight(
  {
    'access-control-request-headers': wanted,
    'access-control-request-private-network': fromPublic,
  }: IncomingHttpHeaders,
  origin?: Readonly<Record<string, string>>,
): HttpAnswer {
  const varies = [...(origin === undefined ? [] : ['Origin']), 'Access-Control-Request-Headers']
  return {
    status: 204,
    headers: {
      ...origin,
      'access-control-allow-methods': 'GET, HEAD, POST',
      vary: varies.join(', '),
      ...(wanted === undefined ? {} : { 'access-control-allow-headers': wanted }),
      ...(origin === undefined || fromPublic !== 'true' ? {} : { 'access-control-allow-private-network': 'true' }),
      'access-control-max-age': '86400',
      // Some browsers wait for a body otherwise.
      'content-length': '0',
    },
  }
}
