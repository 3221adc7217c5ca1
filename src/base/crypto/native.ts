import type * as Crypto from 'node:crypto'
import { mapKey } from '../primitives/bytes.js'
import { nodeCrypto } from '../runtime/node-crypto.js'
import { LruMap } from '../runtime/lru-map.js'
import type { Backend } from './backend.js'

/**
 * Importing a key costs about twice a verification. One entry holds about 2.4 KB outside the JavaScript heap.
 * @tuning count: parsed keys cached in a thread
 */
const keyCacheEntries = 8192

const parsedKeys = new LruMap<Crypto.VerifyKeyObjectInput>(keyCacheEntries)

const { createPublicKey, ECDH, verify } = (nodeCrypto ?? {}) as typeof Crypto

/** P-256 through OpenSSL, for programs alone: no web page may select it. */
export const nativeBackend: Backend = {
  verify(publicKey, message, signature) {
    const key = parsedKey(publicKey)
    return key !== undefined && verify('sha256', message, key, signature)
  },

  verifyAsync(publicKey, message, signature) {
    const key = parsedKey(publicKey)
    if (key === undefined) return Promise.resolve(false)
    return new Promise((resolve) => {
      verify('sha256', message, key, signature, (error, holds) => resolve(error === null && holds))
    })
  },
}

function parsedKey(publicKey: Uint8Array): Crypto.VerifyKeyObjectInput | undefined {
  const id = mapKey(publicKey)
  const known = parsedKeys.get(id)
  if (known !== undefined) return known
  const imported = importKey(publicKey)
  if (imported !== undefined) parsedKeys.set(id, imported)
  return imported
}

/** Decompressing first, then importing coordinates, is OpenSSL's fastest way; both steps check the curve. */
function importKey(publicKey: Uint8Array): Crypto.VerifyKeyObjectInput | undefined {
  try {
    const point = ECDH.convertKey(publicKey, 'prime256v1', undefined, undefined, 'uncompressed') as Buffer
    const x = point.toString('base64url', 1, 33)
    const y = point.toString('base64url', 33, 65)
    const key = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' })
    return { key, dsaEncoding: 'ieee-p1363' }
  } catch {
    return undefined
  }
}
