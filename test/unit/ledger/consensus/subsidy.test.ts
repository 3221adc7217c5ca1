import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { subsidyAt } from '../../../../src/ledger/consensus/subsidy.js'
import { parseSpec } from '../../../../src/base/primitives/spec-file.js'
import { runs, u32 } from '../../../support/builders/arbitraries.js'
import { testSpec } from '../../../support/builders/spec.js'

const spec = (initial: string, halving: number) => parseSpec(testSpec({ subsidy: { initial, halving } }))

describe('the subsidy', () => {
  it('halves every so many blocks, rounded down', () => {
    const chain = spec('5', 10)
    const at = [1, 9, 10, 19, 20, 29, 30, 4_294_967_295].map((height) => subsidyAt(chain, height))
    expect(at).toEqual([5n, 5n, 2n, 2n, 1n, 1n, 0n, 0n])
  })

  it('never halves with halving 0', () => {
    expect(subsidyAt(spec('500000000', 0), 4_294_967_295)).toBe(500_000_000n)
  })

  it('is what dividing by two step by step gives', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 3_300_000_000_000_000n }), u32, (initial, height) => {
        let slow = initial
        for (let i = 0; i < Math.floor(height / 100_000_000); i++) slow /= 2n
        expect(subsidyAt(spec(initial.toString(), 100_000_000), height)).toBe(slow)
      }),
      runs,
    )
  })
})
