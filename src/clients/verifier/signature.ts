import { verify } from '../../base/crypto/verify.js'
import { fromUtf8 } from '../../base/primitives/bytes.js'
import { relativeId } from '../../identity/did/identifier.js'
import type { DidDocument, DidKey } from '../../identity/did/model.js'
import { Invalid } from './report.js'

/** Text with a signature, and the absolute id of its key, where that is named. */
export interface Signed {
  readonly key?: string
  readonly signedText: string
  readonly signature: Uint8Array
}

/**
 * The authentication key of a document that made a signature: the one that is named, else the first of all that verifies. Throws
 * {@link Invalid} if it is none of them.
 */
export function keyThatSigned({ authentication, id }: DidDocument, { key, signedText, signature }: Signed): DidKey {
  const named = key === undefined ? undefined : authentication.get(key)
  if (key !== undefined && named === undefined) {
    throw new Invalid(
      `${relativeId(key, id)} is no authentication key of ${id} now; it is not there, or it was removed`,
    )
  }
  const bytes = fromUtf8(signedText)
  const candidates = named === undefined ? [...authentication.values()] : [named]
  const found = candidates.find(({ publicKey }) => verify(publicKey, bytes, signature))
  if (found !== undefined) return found
  throw new Invalid(named === undefined ? `no key of ${id} made the signature` : `${key} did not make the signature`)
}
