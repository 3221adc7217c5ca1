import type * as Crypto from 'node:crypto'
import { ecdsa } from '@noble/curves/abstract/weierstrass.js'
import { p256 } from '@noble/curves/nist.js'
import { sha256 } from '@noble/hashes/sha2.js'
import type { Random } from '../runtime/env.js'
import { nodeCrypto } from '../runtime/node-crypto.js'

/**
 * The 64-byte signature r‖s of SHA-256 of `message` by a 32-byte private key. Deterministic (RFC 6979): the same input gives the
 * same bytes. s is not normalised. Throws a RangeError for bytes that are no private key.
 */
export function sign(message: Uint8Array, privateKey: Uint8Array): Uint8Array {
  requirePrivateKey(privateKey)
  signing ??= nodeCrypto === undefined ? p256 : ecdsa(openSslPoint(nodeCrypto), sha256, { hmac: hmacOf(nodeCrypto) })
  return signing.sign(message, privateKey, { prehash: true, lowS: false, format: 'compact', extraEntropy: false })
}

let signing: Pick<typeof p256, 'sign'> | undefined

/** HMAC of SHA-256 by OpenSSL, from which a nonce comes; signing takes a fifth less time by it. */
function hmacOf({ createHmac }: typeof Crypto) {
  return (key: Uint8Array, message: Uint8Array): Uint8Array => createHmac('sha256', key).update(message).digest()
}

/** Points of P-256 of which the base point is multiplied by OpenSSL; signing is then five times as fast. */
function openSslPoint({ createECDH }: typeof Crypto): typeof p256.Point {
  const { Point } = p256
  const multiply = (scalar: bigint) => {
    const pair = createECDH('prime256v1')
    pair.setPrivateKey(Point.Fn.toBytes(scalar))
    return Point.fromBytes(pair.getPublicKey())
  }
  return class extends Point {
    static override readonly BASE = { multiply } as typeof Point.BASE
  } as typeof Point
}

/** The 33-byte compressed public key of a 32-byte private key. Throws a RangeError for an invalid key. */
export function publicKeyOf(privateKey: Uint8Array): Uint8Array {
  requirePrivateKey(privateKey)
  if (nodeCrypto === undefined) return p256.getPublicKey(privateKey, true)
  // The other way builds its tables first, which takes longer than most commands.
  const pair = nodeCrypto.createECDH('prime256v1')
  pair.setPrivateKey(privateKey)
  return new Uint8Array(pair.getPublicKey(null, 'compressed'))
}

/** Whether `bytes` are 32 and, as a big-endian integer, from 1 to the order of P-256 less one. */
export function isPrivateKey(bytes: Uint8Array): boolean {
  return p256.utils.isValidSecretKey(bytes)
}

/** Whether `bytes` are the compressed form, 33 bytes, of a point of P-256. */
export function isPublicKey(bytes: Uint8Array): boolean {
  return p256.utils.isValidPublicKey(bytes, true)
}

/** A uniformly distributed private key: draws until one is in range, nearly always the first. */
export function generatePrivateKey(random: Random): Uint8Array {
  for (;;) {
    const candidate = random.bytes(32)
    if (isPrivateKey(candidate)) return candidate
  }
}

function requirePrivateKey(bytes: Uint8Array): void {
  if (!isPrivateKey(bytes)) throw new RangeError('a private key is 32 bytes between zero and the order of P-256')
}
