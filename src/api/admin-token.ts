import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { fromUtf8, toHex } from '../primitives/bytes.js'
import { sha256 } from '../primitives/hash.js'

/**
 * Why a request may not do what only the owner of the node may; undefined: it may. `token` is the content of admin.token,
 * 32 bytes; absent: nobody has one. The time this takes says nothing about how much of a guess was right.
 */
export function adminRefusal(token: Uint8Array | undefined, headers: IncomingHttpHeaders): string | undefined {
  if (token === undefined) return 'this node has no admin token'
  const { authorization } = headers
  if (authorization === undefined) {
    return 'the token is needed that the file admin.token in the data directory holds, as Authorization: Bearer <token>'
  }
  const given = /^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? ''
  // Digests, because only equal lengths can be compared without telling.
  if (timingSafeEqual(sha256(fromUtf8(given)), sha256(fromUtf8(toHex(token))))) return undefined
  return 'the token is not the one that the file admin.token in the data directory holds'
}
