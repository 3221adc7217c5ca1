import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { fromUtf8, toHex } from '../../../base/primitives/bytes.js'
import { sha256 } from '../../../base/primitives/hash.js'
import { headerToken } from '../../../base/runtime/header-token.js'

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
  const given = headerToken(authorization)
  // Digests: only equal lengths can be compared in constant time.
  if (timingSafeEqual(sha256(fromUtf8(given)), sha256(fromUtf8(toHex(token))))) return undefined
  return `what Authorization holds is not the token that ${forms}`
}
