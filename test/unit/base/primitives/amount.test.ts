import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatAmount, parseAmount } from '../../../../src/base/primitives/amount.js'
import { i64, runs } from '../../../support/builders/arbitraries.js'

describe('amounts', () => {
  it('always have eight decimals', () => {
    expect(formatAmount(0n)).toBe('0.00000000')
    expect(formatAmount(1n)).toBe('0.00000001')
    expect(formatAmount(-1n)).toBe('-0.00000001')
    expect(formatAmount(-150_000_000n)).toBe('-1.50000000')
    expect(formatAmount(3_300_000_000_000_000n)).toBe('33000000.00000000')
    expect(formatAmount((1n << 63n) - 1n)).toBe('92233720368.54775807')
    expect(formatAmount(-(1n << 63n))).toBe('-92233720368.54775808')
  })

  it('come back as they were, with or without the zeros', () => {
    fc.assert(
      fc.property(i64, (value) => {
        const amount = value < 0n ? -(value + 1n) : value
        const text = formatAmount(amount)
        expect(text).toMatch(/^[0-9]+\.[0-9]{8}$/)
        expect(parseAmount(text)).toBe(amount)
        const short = text.replace(/0+$/, '').replace(/\.$/, '')
        expect(parseAmount(short)).toBe(amount)
      }),
      runs,
    )
  })

  it.each(['', '.', '1.', '.5', '-1', '+1', '1e3', ' 1', '1 ', '1,5', '0x1', '1.123456789', '1.1.1', '٣', '1\n'])(
    'are not read from %j',
    (text) => {
      expect(parseAmount(text)).toBeUndefined()
    },
  )

  it('are never rounded and never beyond what the wire can hold', () => {
    expect(parseAmount('0.000000019')).toBeUndefined()
    expect(parseAmount('0.00000001')).toBe(1n)
    expect(parseAmount('92233720368.54775807')).toBe((1n << 63n) - 1n)
    expect(parseAmount('92233720368.54775808')).toBeUndefined()
    expect(parseAmount('999999999999')).toBeUndefined()
    expect(parseAmount('9'.repeat(1000))).toBeUndefined()
    expect(parseAmount('90071992.54740993')).toBe(9_007_199_254_740_993n)
  })
})
