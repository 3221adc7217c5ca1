import { createECDH, createPrivateKey, sign as nativeSign, type KeyObject } from 'node:crypto'
import type { Verifier } from '../../../src/crypto/verifier.js'
import { concat } from '../../../src/primitives/bytes.js'
import type { SignatureCheck } from '../../../src/primitives/signature.js'

/** A key pair that signs through OpenSSL: 20 times faster than the deterministic signer, for tests that need thousands. */
export interface QuickSigner {
  readonly publicKey: Uint8Array
  sign(message: Uint8Array): Uint8Array
}

/** A new key pair, or that of a 32-byte private key. */
export function quickSigner(privateKey?: Uint8Array): QuickSigner {
  const pair = createECDH('prime256v1')
  if (privateKey === undefined) pair.generateKeys()
  else pair.setPrivateKey(privateKey)
  const point = pair.getPublicKey()
  const secret = pair.getPrivateKey()
  // OpenSSL drops leading zeros here.
  const padded = concat(new Uint8Array(32 - secret.length), secret)
  const key: KeyObject = createPrivateKey({
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
    sign: (message) => nativeSign('sha256', message, { key, dsaEncoding: 'ieee-p1363' }),
  }
}

/** `count` one-signature checks over different 200-byte messages, by `keys` different keys in turn; all of them hold. */
export function signatureLoad(count: number, keys: number = count): SignatureCheck[] {
  const signers = Array.from({ length: keys }, quickSigner)
  return Array.from({ length: count }, (_, index) => {
    const message = new Uint8Array(200).fill(index)
    new DataView(message.buffer).setUint32(0, index)
    const signer = signers[index % keys] as QuickSigner
    return checkOf(message, [signer.publicKey], [signer.sign(message)], `check ${index}`)
  })
}

export function checkOf(
  message: Uint8Array,
  keys: readonly Uint8Array[],
  signatures: readonly Uint8Array[],
  subject = 'program 0',
): SignatureCheck {
  return { message, keys, signatures, code: 'tx-signature', subject }
}

/** Checks a second through `verifier`, all of which have to hold. */
export async function measureRate(verifier: Verifier, checks: readonly SignatureCheck[]): Promise<number> {
  const start = performance.now()
  const failing = await verifier.verifyAll(checks)
  const seconds = (performance.now() - start) / 1000
  if (failing !== -1) throw new Error(`check ${failing} does not hold`)
  return checks.length / seconds
}
