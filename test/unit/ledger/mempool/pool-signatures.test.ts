import { describe, expect, it } from 'vitest'
import { createInlineVerifier } from '../../../../src/base/crypto/inline.js'
import { SignatureCache } from '../../../../src/base/crypto/signature-cache.js'
import { PoolChecks } from '../../../../src/ledger/mempool/pool-signatures.js'
import type { SignatureCheck } from '../../../../src/base/primitives/signature.js'
import { signatureLoad } from '../../../support/builders/signatures.js'

const all = () => true
const verifier = createInlineVerifier()
const credentials = (count: number) =>
  signatureLoad(count, 1).map((check): SignatureCheck => ({ ...check, code: 'credential-proof' }))

describe('the signatures of pooled transactions', () => {
  it('are verified once, those of credentials when a template takes them', async () => {
    const checks = new PoolChecks({ verifier, signatures: new SignatureCache() })
    const [first, second] = credentials(2) as [SignatureCheck, SignatureCheck]
    const program: SignatureCheck = { ...first, code: 'tx-signature' }
    expect(checks.unverified([program])).toEqual([])
    expect(checks.unverified([program, first, second])).toEqual([first, second])
    expect(await checks.allHold([first, second], all)).toBe(true)
    expect(checks.unverified([program, first, second])).toEqual([])
  })

  it('are known as far as they hold', async () => {
    const checks = new PoolChecks({ verifier, signatures: new SignatureCache() })
    const [first, second, third] = credentials(3) as [SignatureCheck, SignatureCheck, SignatureCheck]
    const wrong = { ...second, signatures: first.signatures }
    expect(await checks.allHold([first, wrong, third], all)).toBe(false)
    expect(checks.unverified([first, wrong, third])).toEqual([wrong, third])
    expect(await checks.allHold([wrong], all)).toBe(false)
    expect(await checks.allHold([third], all)).toBe(true)
    expect(checks.unverified([first, wrong, third])).toEqual([wrong])
  })

  it('are verified in portions, until they are not wanted any more', async () => {
    const portions: number[] = []
    const counting = {
      ...verifier,
      verifyAll: (some: readonly unknown[]) => (portions.push(some.length), Promise.resolve(-1)),
    }
    const checks = new PoolChecks({ verifier: counting, signatures: new SignatureCache() })
    const load = new Array<SignatureCheck>(2049).fill(credentials(1)[0] as SignatureCheck)
    expect(await checks.allHold(load, all)).toBe(true)
    expect(portions).toEqual([1024, 1024, 1])
    expect(await checks.allHold(load, () => portions.length < 4)).toBe(true)
    expect(portions).toEqual([1024, 1024, 1, 1024])
    expect(await checks.allHold(load, () => false)).toBe(true)
    expect(portions).toHaveLength(4)
  })
})
