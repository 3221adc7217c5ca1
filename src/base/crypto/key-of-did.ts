import { p256 } from '@noble/curves/nist.js'
import { didFromPublicKey } from '../primitives/address.js'
import { didMethod } from '../primitives/did-method.js'
import { sha256 } from '../primitives/hash.js'

/** Whether a signature (64 bytes, r‖s) over the SHA-256 of a message is by the key that a DID is made of, which need not be known. */
export function isByKeyOf(did: string, message: Uint8Array, signature: Uint8Array, method = didMethod): boolean {
  return keyInSignature(did, message, signature, method) !== undefined
}

/**
 * The key (33 bytes) that a DID is made of, from a signature by it; undefined for a signature by another key. A signature and its message fit
 * two points, and the DID is the hash of one of them. Takes milliseconds.
 */
export function keyInSignature(
  did: string,
  message: Uint8Array,
  signature: Uint8Array,
  method = didMethod,
): Uint8Array | undefined {
  const digest = sha256(message)
  return [0, 1]
    .map((bit) => recovered(digest, signature, bit))
    .find((key) => key !== undefined && didFromPublicKey(key, { method }) === did)
}

function recovered(digest: Uint8Array, signature: Uint8Array, bit: number): Uint8Array | undefined {
  try {
    return p256.Signature.fromBytes(signature, 'compact').addRecoveryBit(bit).recoverPublicKey(digest).toBytes(true)
  } catch {
    // Numbers out of range, or no point with that coordinate.
    return undefined
  }
}
