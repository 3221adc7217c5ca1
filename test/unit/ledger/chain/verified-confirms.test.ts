import { afterEach, describe, expect, it } from 'vitest'
import { VerifiedConfirms } from '../../../../src/ledger/chain/verified-confirms.js'
import { craftBlock } from '../../../support/builders/blocks.js'
import { TestChain } from '../../../support/builders/chain.js'

describe('VerifiedConfirms', () => {
  const chains: TestChain[] = []
  afterEach(() => Promise.all(chains.splice(0).map((test) => test.close())))

  it('knows a confirm with its header, and with no other', async () => {
    const test = await TestChain.open()
    chains.push(test)
    const { header: one } = craftBlock(test.chain)
    const { header: other } = test.chain.genesis
    const confirm = Uint8Array.from({ length: 300 }, (_, i) => i)
    const known = new VerifiedConfirms()
    known.add(one, confirm)
    expect(known.has(one, Uint8Array.from(confirm))).toBe(true)
    expect(known.has(other, confirm)).toBe(false)
    for (const at of [0, 150, 299]) {
      expect(
        known.has(
          one,
          Uint8Array.from(confirm, (byte, i) => (i === at ? byte ^ 1 : byte)),
        ),
      ).toBe(false)
    }
    expect(known.has(one, confirm.subarray(1))).toBe(false)
  })

  it('forgets the oldest of more than 8192', async () => {
    const test = await TestChain.open()
    chains.push(test)
    const { header } = craftBlock(test.chain)
    const numbered = (n: number) => Uint8Array.of(n >> 8, n & 0xff)
    const known = new VerifiedConfirms()
    for (let n = 0; n < 8192; n++) known.add(header, numbered(n))
    expect(known.has(header, numbered(0))).toBe(true)
    known.add(header, numbered(8192))
    expect([0, 1, 8192].map((n) => known.has(header, numbered(n)))).toEqual([false, true, true])
  })
})
