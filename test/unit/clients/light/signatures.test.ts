import { describe, expect, it } from 'vitest'
import { didFromPublicKey } from '../../../../src/base/primitives/address.js'
import { quickSigner, type QuickSigner } from '../../../../src/base/crypto/quick-signer.js'
import { noSignatures, requireSignatures } from '../../../../src/identity/proofs/signature-checks.js'
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
  it('are imported once for all resolvers of a program, and kept of a bounded number', async () => {
    let imports = 0
    const counting = {
      importKey: () => Promise.resolve({ number: ++imports }),
      verify: () => Promise.resolve(true),
    } as unknown as Subtle
    const signatures = new Signatures(counting)
    const first = dueOf(quickSigner())
    for (let i = 0; i < 2; i++) await failureBy(new Signatures(counting), [first])
    expect(imports).toBe(1)
    const others = Array.from({ length: 1023 }, (_, i) => ({ ...first, key: Uint8Array.of(i & 255, i >> 8) }))
    for (const other of [...others, first]) await failureBy(signatures, [other])
    expect(imports).toBe(1)
    for (const other of [{ ...first, key: Uint8Array.of(7, 7, 7) }, first]) await failureBy(signatures, [other])
    expect(imports).toBe(2)
  })
})

describe.each([
  ['WebCrypto', subtle],
  ['JavaScript', null],
] as const)('signatures by the keys that DIDs are made of, by %s', (_, own) => {
  const controllers = Array.from({ length: 16 }, () => {
    const signer = quickSigner()
    return { signer, did: didFromPublicKey(signer.publicKey, { method: 'ledger' }) }
  })
  /** Each controller signs as many messages. */
  const due = (count: number) =>
    Array.from({ length: count }, (_, number) => Uint8Array.of(number)).flatMap((message) =>
      controllers.map(({ signer, did }) => ({ key: did, message, signature: signer.sign(message) })),
    )

  it('hold, and are refused for another message or DID, before and after the key is found', async () => {
    const signatures = new Signatures(own)
    const [first, second] = due(2).filter(({ key }) => key === controllers[0]?.did)
    if (first === undefined || second === undefined) throw new Error('two signatures of one controller are needed')
    const other = controllers[1]?.did ?? ''
    for (let i = 0; i < 2; i++) {
      expect(await failureBy(signatures, [{ ...first, message: second.message }])).toBe('confirm-signature')
      expect(await failureBy(signatures, [{ ...first, key: other }])).toBe('confirm-signature')
      expect(await failureBy(signatures, [first, second])).toBeUndefined()
    }
  })

  it('let timers run all the while', async () => {
    const all = due(8)
    let turns = 0
    const timer = setInterval(() => turns++, 1)
    const began = process.cpuUsage()
    expect(await failureBy(new Signatures(own), all)).toBeUndefined()
    const { user, system } = process.cpuUsage(began)
    clearInterval(timer)
    // A slice is 8 ms, and the longest step a few more.
    expect(turns).toBeGreaterThan((user + system) / 1000 / 60)
  })
})

it('a check gives way between steps that have nothing to verify', async () => {
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  const signatures = new Signatures()
  await signatures.settle(
    (function* () {
      for (let i = 0; i < 50; i++) {
        const until = performance.now() + 4
        while (performance.now() < until);
        yield noSignatures
      }
    })(),
  )
  clearInterval(timer)
  expect(turns).toBeGreaterThan(5)
})
