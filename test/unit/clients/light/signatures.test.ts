import { describe, expect, it } from 'vitest'
import { quickSigner, type QuickSigner } from '../../../../src/base/crypto/quick-signer.js'
import { requireSignatures } from '../../../../src/identity/proofs/signature-checks.js'
import { Signatures, type Subtle } from '../../../../src/clients/light/signatures.js'
import { failureOf } from '../../../support/builders/light-world.js'

const { subtle } = globalThis.crypto

/** Of a message of one byte. */
function dueOf({ publicKey, sign }: QuickSigner) {
  const message = Uint8Array.of(7)
  return { key: publicKey, message, signature: sign(message) }
}

/** Failure of a check of signatures; undefined if they hold. */
function failureBy(signatures: Signatures, due: Parameters<typeof requireSignatures>[0]): Promise<unknown> {
  return failureOf(signatures.settle(requireSignatures(due, 'confirm-signature', 'for the test')))
}

describe.each([
  ['WebCrypto', subtle],
  ['JavaScript', null],
] as const)('signatures by %s', (_, own) => {
  const [one, other] = [dueOf(quickSigner()), dueOf(quickSigner())]

  it('hold where all of them do', async () => {
    const signatures = new Signatures(own)
    for (let i = 0; i < 2; i++) expect(await failureBy(signatures, [one, other])).toBeUndefined()
  })

  it.each<[string, object]>([
    ['another message', { message: Uint8Array.of(8) }],
    ['another key', { key: other.key }],
    ['no point for a key', { key: new Uint8Array(33).fill(2) }],
    ['an empty key', { key: new Uint8Array(0) }],
  ])('are refused for one with %s', async (_, changes) => {
    expect(await failureBy(new Signatures(own), [other, { ...one, ...changes }])).toBe('confirm-signature')
  })
})

describe('the keys of WebCrypto', () => {
  it('are imported once, and kept of a bounded number', async () => {
    let imports = 0
    const counting = {
      importKey: () => Promise.resolve({ number: ++imports }),
      verify: () => Promise.resolve(true),
    } as unknown as Subtle
    const signatures = new Signatures(counting)
    const first = dueOf(quickSigner())
    for (let i = 0; i < 2; i++) await failureBy(signatures, [first])
    expect(imports).toBe(1)
    const others = Array.from({ length: 1024 }, (_, i) => ({ ...first, key: Uint8Array.of(i & 255, i >> 8) }))
    await failureBy(signatures, others)
    await failureBy(signatures, [first])
    expect(imports).toBe(2)
  })
})
