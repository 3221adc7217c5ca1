import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createInlineVerifier } from '../../../../src/base/crypto/inline.js'
import { auxPowBytes } from '../../../../src/base/primitives/auxpow.js'
import type { SignatureCheck } from '../../../../src/base/primitives/signature.js'
import { checkProof, type HeaderChecking } from '../../../../src/network/sync/check-headers.js'
import type { HeaderUnit } from '../../../../src/network/wire/headers-message.js'
import { craftBlock } from '../../../support/builders/blocks.js'
import { oneValidator, TestChain } from '../../../support/builders/chain.js'

describe('the confirm of a header', () => {
  let test: TestChain
  let verified: number
  let checking: HeaderChecking
  let unit: HeaderUnit

  beforeEach(async () => {
    test = await TestChain.open(oneValidator())
    verified = 0
    const inline = createInlineVerifier()
    const verifyAll = (checks: readonly SignatureCheck[]) => {
      verified += checks.length
      return inline.verifyAll(checks)
    }
    checking = {
      chain: test.chain,
      verifier: { verifyAll, close: () => inline.close() },
      clock: test.clock,
      assumed: () => false,
      ahead: () => {},
    }
    const block = craftBlock(test.chain)
    unit = {
      header: block.header,
      auxPow: auxPowBytes(block.auxPow),
      confirm: test.confirmFor(block) as Uint8Array,
      size: 0,
    }
  })
  afterEach(() => test.close())

  it('is verified once, however often a peer shows it', async () => {
    await checkProof(unit, checking)
    expect(verified).toBe(2)
    for (let size = 1; size < 4; size++) await checkProof({ ...unit, size }, checking)
    expect(verified).toBe(2)
  })

  it('is verified again if a byte of it is another, and refused each time', async () => {
    await checkProof(unit, checking)
    const confirm = Uint8Array.from(unit.confirm, (byte, i) => (i === unit.confirm.length - 1 ? byte ^ 1 : byte))
    for (const sum of [4, 6]) {
      await expect(checkProof({ ...unit, confirm }, checking)).rejects.toMatchObject({ code: 'confirm-signature' })
      expect(verified).toBe(sum)
    }
  })
})
