import { describe, expect, it } from 'vitest'
import { RunningChecks, type Verifier } from '../../../../src/base/crypto/verifier.js'
import type { SignatureCheck } from '../../../../src/base/primitives/signature.js'

const check: SignatureCheck = {
  message: new Uint8Array(1),
  keys: [],
  signatures: [],
  code: 'tx-signature',
  subject: 'program 0',
}

/** Notes how many checks each call has, and finds the one at `failing` wrong. */
class CountingVerifier implements Verifier {
  readonly calls: number[] = []
  readonly #failing: number

  constructor(failing = Infinity) {
    this.#failing = failing
  }

  verifyAll({ length }: readonly SignatureCheck[]): Promise<number> {
    const before = this.calls.reduce((sum, count) => sum + count, 0)
    this.calls.push(length)
    const index = this.#failing - before
    return Promise.resolve(index >= 0 && index < length ? index : -1)
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

describe('Checks that are verified while more are added', () => {
  it('go to the verifier in portions, and the rest at the end', async () => {
    const verifier = new CountingVerifier()
    const running = new RunningChecks(verifier)
    for (let i = 0; i < 255; i++) running.add([check], { txid: `${i}` })
    expect(verifier.calls).toEqual([])
    for (let i = 255; i < 800; i++) running.add([check], { txid: `${i}` })
    expect(verifier.calls).toEqual([256, 256, 256])
    await running.finish()
    expect(verifier.calls).toEqual([256, 256, 256, 32])
  })

  it.each([0, 255, 256, 500, 799])('name the transaction of the one that fails: %i', async (failing) => {
    const running = new RunningChecks(new CountingVerifier(failing))
    for (let i = 0; i < 800; i++) running.add([check], { txid: `${i}` })
    await expect(running.finish()).rejects.toMatchObject({ code: 'tx-signature', transaction: `${failing}` })
  })
})
