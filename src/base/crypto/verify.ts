import { InvariantError } from '../errors/rule-error.js'
import { fromUtf8, hex } from '../primitives/bytes.js'
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
  return publicKey.length === 33 && (publicKey[0] === 2 || publicKey[0] === 3) && signature.length === 64
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

// The P-256 and SHA-256 example of RFC 6979: one signature with a high s, one with a low s.
const exampleKey = hex('0360fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6')
const sampleSignature = hex(
  'efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716' +
    'f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8',
)
const testSignature = hex(
  'f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367' +
    '019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083',
)
const selfTestVectors = [
  { text: 'sample', signature: sampleSignature, expected: true },
  { text: 'test', signature: testSignature, expected: true },
  { text: 'test', signature: sampleSignature, expected: false },
]

/**
 * Checks the selected backend on published signatures, once at start; the other one is JavaScript that takes a tenth of a second
 * to verify its first signatures. Throws an {@link InvariantError} that names a faulty one.
 */
export function selfTest(): void {
  for (const { text, signature, expected } of selfTestVectors) {
    if (backends[selected].verify(exampleKey, fromUtf8(text), signature) !== expected) {
      throw new InvariantError(`the ${selected} signature backend answers wrongly on a published example (${text})`)
    }
  }
}
