import type { IncomingHttpHeaders } from 'node:http'
import type { HttpAnswer } from './path-row.js'

/** Allows a page of any origin what it asks for: methods that are not taken are refused when they come. */
export function preflight({ 'access-control-request-headers': wanted }: IncomingHttpHeaders): HttpAnswer {
  const allowed: Record<string, string> = wanted === undefined ? {} : { 'access-control-allow-headers': wanted }
  return {
    status: 204,
    headers: {
      'access-control-allow-methods': 'GET, HEAD, POST',
      vary: 'Access-Control-Request-Headers',
      ...allowed,
      'access-control-max-age': '86400',
      // Some browsers wait for a body otherwise.
      'content-length': '0',
    },
  }
}
