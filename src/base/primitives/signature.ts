import type { Code } from '../errors/error-codes.js'

/**
 * A signature that has to verify for a rule to hold. Rules collect these and never verify; the caller runs them in bulk. With one
 * key and one signature: a plain ECDSA check over SHA-256 of `message`. With several: every signature in order takes the first
 * unused key under which it verifies.
 */
export interface SignatureCheck {
  readonly message: Uint8Array
  /** 33-byte compressed P-256 keys. */
  readonly keys: readonly Uint8Array[]
  /** 64-byte r‖s signatures; high s is valid. */
  readonly signatures: readonly Uint8Array[]
  /** Error code of a failure. */
  readonly code: Code
  /** Name of the signed thing for the error's text: "program 2", "document proof". */
  readonly subject: string
  /**
   * A name that no check of other keys, signatures or message has, longer than 32 characters; where there is none, these are hashed for one.
   */
  readonly identity?: string
}
