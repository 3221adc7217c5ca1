import type * as Crypto from 'node:crypto'
import { concat } from '../primitives/bytes.js'
import { nodeCrypto } from '../runtime/node-crypto.js'

const { createECDH, createPrivateKey, sign } = (nodeCrypto ?? {}) as typeof Crypto

/** A key pair of P-256 that signs through OpenSSL. */
export interface QuickSigner {
  /** 33 bytes, compressed. */
  readonly publicKey: Uint8Array
  /** r‖s of SHA-256 of a message, 64 bytes; other bytes each time. */
  sign(message: Uint8Array): Uint8Array
}

/**
 * The pair of a 32-byte private key, or a new one. Signs four times as fast as `sign` of keys.ts, which is for keys of value:
 * it gives the same bytes each time. For programs alone, no web page may use it.
 */
export function quickSigner(privateKey?: Uint8Array): QuickSigner {
  const pair = createECDH('prime256v1')
  if (privateKey === undefined) pair.generateKeys()
  else pair.setPrivateKey(privateKey)
  const point = pair.getPublicKey()
  const secret = pair.getPrivateKey()
  // OpenSSL drops leading zeros here.
  const padded = concat(new Uint8Array(32 - secret.length), secret)
  const key = createPrivateKey({
    key: {
      kty: 'EC',
      crv: 'P-256',
      x: point.toString('base64url', 1, 33),
      y: point.toString('base64url', 33, 65),
      d: Buffer.from(padded).toString('base64url'),
    },
    format: 'jwk',
  })
  return {
    publicKey: pair.getPublicKey(null, 'compressed'),
    sign: (message) => sign('sha256', message, { key, dsaEncoding: 'ieee-p1363' }),
  }
}
