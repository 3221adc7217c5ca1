import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { fromUtf8, toHex } from '../../../base/primitives/bytes.js'
import { sha256 } from '../../../base/primitives/hash.js'

const forms =
  'the file admin.token in the data directory holds, sent as Authorization: Bearer <token>, or as the password of Basic with any user'

/**
 * Reason to refuse a request that only the owner may make; undefined: allowed. `token`: content of admin.token, 32 bytes; absent:
 * every request is refused. The time taken does not reveal how much of a guess was right.
 */
export function adminRefusal(token: Uint8Array | undefined, headers: IncomingHttpHeaders): string | undefined {
  if (token === undefined) return 'this node has no admin token'
  const { authorization } = headers
  if (authorization === undefined) return `the token is needed that ${forms}`
  const given = tokenIn(authorization)
  // Digests: only equal lengths can be compared in constant time.
  if (timingSafeEqual(sha256(fromUtf8(given)), sha256(fromUtf8(toHex(token))))) return undefined
  return `what Authorization holds is not the token that ${forms}`
}

/** The token of a Bearer, or the password of a Basic (RFC 7617), where it follows the first colon; empty for anything else. */
function tokenIn(authorization: string): string {
  const [, scheme = '', credentials = ''] = /^(bearer|basic) +(\S+) *$/i.exec(authorization) ?? []
  if (scheme.toLowerCase() !== 'basic') return credentials
  const pair = Buffer.from(credentials, 'base64').toString('latin1')
  return pair.includes(':') ? pair.slice(pair.indexOf(':') + 1) : ''
}
