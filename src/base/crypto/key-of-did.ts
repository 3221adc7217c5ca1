import { p256 } from '@noble/curves/nist.js'
import { didFromPublicKey } from '../primitives/address.js'
import { didMethod } from '../primitives/did-method.js'
import { sha256 } from '../primitives/hash.js'

/**
 * Whether a signature (64 bytes, r‖s) over the SHA-256 of a message is by the key that a DID is made of. The key itself is not needed: a
 * signature and its message fit two points, and the DID is the hash of one of them.
 */
export function isByKeyOf(did: string, message: Uint8Array, signature: Uint8Array, method = didMethod): boolean {
  const digest = sha256(message)
  return [0, 1].some((bit) => {
    const key = recovered(digest, signature, bit)
    return key !== undefined && didFromPublicKey(key, { method }) === did
  })
}

function recovered(digest: Uint8Array, signature: Uint8Array, bit: number): Uint8Array | undefined {
  try {
    return p256.Signature.fromBytes(signature, 'compact').addRecoveryBit(bit).recoverPublicKey(digest).toBytes(true)
  } catch {
    // Numbers out of range, or no point with that coordinate.
    return undefined
  }
}
