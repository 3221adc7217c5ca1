import { isCompressed } from '../primitives/p256.js'
import type { SignatureCheck } from '../primitives/signature.js'
import { nodeCrypto } from '../runtime/node-crypto.js'
import type { Backend } from './backend.js'
import { nativeBackend } from './native.js'
import { nobleBackend } from './noble.js'

export type BackendName = 'native' | 'noble'

const backends: Readonly<Record<BackendName, Backend>> = { native: nativeBackend, noble: nobleBackend }

let selected: BackendName = nodeCrypto === undefined ? 'noble' : 'native'

/** Selects the implementation of `verify` and `verifyAsync` in this thread; OpenSSL until then, in a web page JavaScript. */
export function selectBackend(name: BackendName): void {
  selected = name
}

export function selectedBackend(): BackendName {
  return selected
}

/**
 * Whether `signature` (64 bytes, r‖s, big-endian, s in either half) is an ECDSA signature over P-256 of SHA-256 of
 * `message` by `publicKey` (33 bytes, compressed). False for anything of another form; never throws.
 */
export function verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  return wellFormed(publicKey, signature) && backends[selected].verify(publicKey, message, signature)
}

/** The result of {@link verify} without blocking the event loop; a key not cached still costs about 0.1 ms. */
export function verifyAsync(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): Promise<boolean> {
  if (!wellFormed(publicKey, signature)) return Promise.resolve(false)
  return backends[selected].verifyAsync(publicKey, message, signature)
}

/** No other input may reach a backend: OpenSSL also reads longer forms, and crashes on the point at infinity. */
function wellFormed(publicKey: Uint8Array, signature: Uint8Array): boolean {
  return isCompressed(publicKey) && signature.length === 64
}

/**
 * Whether a check holds: every signature in order takes the first unused key under which it verifies, and there is at
 * least one signature. A key listed twice can be used twice.
 */
export function holds(check: Pick<SignatureCheck, 'message' | 'keys' | 'signatures'>): boolean {
  const unused = [...check.keys]
  for (const signature of check.signatures) {
    const index = unused.findIndex((key) => verify(key, check.message, signature))
    if (index < 0) return false
    unused.splice(index, 1)
  }
  return check.signatures.length > 0
}
