/**
 * One implementation of ECDSA over P-256 with SHA-256. Only `verify.ts` calls one, only with a key of 33 bytes that begins with
 * 02 or 03 and a signature of 64 bytes. Other input kills the process in one backend (the point at infinity) and throws in
 * another. High s is valid in all of them.
 */
export interface Backend {
  /** False for a key off the curve and for anything that does not verify. Never throws. */
  verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean
  /** The same result; keeps the event loop free if the backend can. Never rejects. */
  verifyAsync(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): Promise<boolean>
}
