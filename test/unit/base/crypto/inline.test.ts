import { setImmediate } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { createInlineVerifier } from '../../../../src/base/crypto/inline.js'
import { runChecks } from '../../../../src/base/crypto/verifier.js'
import { holds, selectBackend } from '../../../../src/base/crypto/verify.js'
import { RuleError } from '../../../../src/base/errors/rule-error.js'
import type { SignatureCheck } from '../../../../src/base/primitives/signature.js'
import { checkOf, quickSigner, signatureLoad } from '../../../support/builders/signatures.js'

afterEach(() => selectBackend('native'))

/** Counts how many verifications are under way at once; each takes a turn of the event loop. */
class InFlight {
  most = 0
  #now = 0

  readonly verify = async (): Promise<boolean> => {
    this.most = Math.max(this.most, ++this.#now)
    await setImmediate()
    this.#now--
    return true
  }
}

describe('inline verifier', () => {
  it('finds the first failing check, or none', async () => {
    const verifier = createInlineVerifier()
    const checks = signatureLoad(150, 10)
    expect(await verifier.verifyAll([])).toBe(-1)
    expect(await verifier.verifyAll(checks)).toBe(-1)
    const spoiled = checks.map((check, index) =>
      index === 40 || index === 41 || index === 149 ? { ...check, message: new Uint8Array(3) } : check,
    )
    expect(await verifier.verifyAll(spoiled)).toBe(40)
    expect(await verifier.verifyAll(spoiled.slice(41))).toBe(0)
    expect(await verifier.verifyAll(spoiled.slice(42))).toBe(107)
  })

  it('gives the answers of the JavaScript backend too', async () => {
    selectBackend('noble')
    const checks = signatureLoad(10)
    expect(await createInlineVerifier().verifyAll(checks)).toBe(-1)
    expect(await createInlineVerifier().verifyAll([...checks, { ...checks[0], keys: [] } as SignatureCheck])).toBe(10)
  })

  it('treats several signatures like holds()', async () => {
    const verifier = createInlineVerifier()
    const signers = [quickSigner(), quickSigner(), quickSigner()]
    const message = new Uint8Array(9)
    const keys = signers.map(({ publicKey }) => publicKey)
    const orders = [[], [0], [2], [0, 1], [1, 0], [2, 0, 1], [0, 0], [1, 1, 1], [0, 1, 2, 0]]
    const checks = orders.map((order) =>
      checkOf(
        message,
        keys,
        order.map((index) => (signers[index] as (typeof signers)[0]).sign(message)),
      ),
    )
    for (const check of checks) expect(await verifier.verifyAll([check])).toBe(holds(check) ? -1 : 0)
    expect(checks.filter(holds)).toHaveLength(5)
  })

  it('gives other work a turn while it imports keys', async () => {
    const checks = signatureLoad(500)
    let turns = 0
    let running = true
    const loop = (async () => {
      for (; running; turns++) await setImmediate()
    })()
    expect(await createInlineVerifier().verifyAll(checks)).toBe(-1)
    running = false
    await loop
    expect(turns).toBeGreaterThan(5)
  })

  it('has no more than 64 verifications under way, however many calls there are', async () => {
    const count = new InFlight()
    const verifier = createInlineVerifier(count.verify)
    const check = checkOf(new Uint8Array(10), [new Uint8Array(33)], [new Uint8Array(64)])
    const checks = Array.from({ length: 200 }, () => check)
    expect(await Promise.all([verifier.verifyAll(checks), verifier.verifyAll(checks)])).toEqual([-1, -1])
    expect(count.most).toBe(64)
  })

  it('has fewer under way when messages are large, and still takes the largest', async () => {
    const count = new InFlight()
    const verifier = createInlineVerifier(count.verify)
    const large = checkOf(new Uint8Array(1024 * 1024), [new Uint8Array(33)], [new Uint8Array(64)])
    expect(await verifier.verifyAll(Array.from({ length: 20 }, () => large))).toBe(-1)
    expect(count.most).toBe(3)
    const huge = { ...large, message: new Uint8Array(8_000_000) }
    expect(await verifier.verifyAll([huge, huge, large])).toBe(-1)
  })

  it('rejects after close', async () => {
    const verifier = createInlineVerifier()
    await verifier.close()
    await expect(verifier.verifyAll(signatureLoad(1))).rejects.toThrow('closed')
  })
})

describe('runChecks', () => {
  const message = new Uint8Array(5)
  const signer = quickSigner()
  const good = checkOf(message, [signer.publicKey], [signer.sign(message)])

  it('resolves when all hold', async () => {
    await expect(runChecks([good, good], createInlineVerifier())).resolves.toBeUndefined()
    await expect(runChecks([], createInlineVerifier())).resolves.toBeUndefined()
  })

  it("rejects with the first failing check's code and names its subject", async () => {
    const bad: SignatureCheck = { ...good, keys: [], code: 'confirm-signature', subject: 'vote 3' }
    const later: SignatureCheck = { ...good, keys: [], code: 'tx-signature', subject: 'program 1' }
    const error: unknown = await runChecks([good, bad, later], createInlineVerifier()).catch(
      (reason: unknown) => reason,
    )
    expect(error).toBeInstanceOf(RuleError)
    expect((error as RuleError).code).toBe('confirm-signature')
    expect((error as RuleError).message).toContain('vote 3')
  })
})
