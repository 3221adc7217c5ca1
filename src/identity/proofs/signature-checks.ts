import { fail, type ProofFailure } from './proof-failure.js'

/**
 * Checks that need signatures: each is yielded to the caller, since this room verifies none, and the result of `yield` is whether all of
 * them verify.
 */

export type SignatureDue = P256Due | Ed25519Due

/** A signature of a validator or a DID. */
export interface P256Due {
  readonly scheme?: undefined
  /** 33 bytes, compressed; or a DID, for the key that it is made of. */
  readonly key: Uint8Array | string
  /** Signed bytes: the signature is over their SHA-256. */
  readonly message: Uint8Array
  /** 64 bytes, r‖s; s may be in either half. */
  readonly signature: Uint8Array
}

/** A signature of a witness. */
export interface Ed25519Due {
  readonly scheme: 'ed25519'
  /** 32 bytes. */
  readonly key: Uint8Array
  /** Signed bytes, not hashed before. */
  readonly message: Uint8Array
  /** 64 bytes. */
  readonly signature: Uint8Array
}

/** Steps of a check that throw a `ProofError`, or end with what was proved. */
export type Checking<T = void> = Generator<readonly SignatureDue[], T, boolean>

/** Yielded between long steps: there is nothing to verify, and the caller may let other work run. */
export const noSignatures: readonly SignatureDue[] = []

/** Asks for signatures to be verified. */
export function* requireSignatures(due: readonly SignatureDue[], failure: ProofFailure, reason: string): Checking {
  if (!(yield due)) fail(failure, reason)
}
