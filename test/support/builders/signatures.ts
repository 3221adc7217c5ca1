import { type QuickSigner, quickSigner } from '../../../src/base/crypto/quick-signer.js'
import type { Verifier } from '../../../src/base/crypto/verifier.js'
import type { SignatureCheck } from '../../../src/base/primitives/signature.js'

export { type QuickSigner, quickSigner } from '../../../src/base/crypto/quick-signer.js'

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
