import { ed25519 } from '@noble/curves/ed25519.js'
import { concat, hex } from '../primitives/bytes.js'
import { nodeCrypto } from '../runtime/node-crypto.js'

/** Ed25519 (RFC 8032), of witnesses alone: validators and DIDs have P-256. */

/** PKCS #8 of a key, up to its seed. */
const keyPrefix = hex('302e020100300506032b657004220420')

/** The public key of a seed of 32 bytes. */
export function ed25519PublicKey(seed: Uint8Array): Uint8Array {
  return ed25519.getPublicKey(seed)
}

/** A function that signs with the key of a seed; by OpenSSL where there is one, which is about ten times as fast. */
export function ed25519Signer(seed: Uint8Array): (message: Uint8Array) => Uint8Array {
  if (nodeCrypto === undefined) return (message) => ed25519.sign(message, seed)
  const { createPrivateKey, sign } = nodeCrypto
  const key = createPrivateKey({ key: Buffer.from(concat(keyPrefix, seed)), format: 'der', type: 'pkcs8' })
  return (message) => sign(null, message, key)
}

/** Whether a signature of 64 bytes is that of a public key of 32 bytes, by the strict rules of RFC 8032. */
export function verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  try {
    return ed25519.verify(signature, message, publicKey, { zip215: false })
  } catch {
    return false
  }
}
