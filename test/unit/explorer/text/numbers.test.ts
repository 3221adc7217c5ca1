import { describe, expect, it } from 'vitest'
import {
  amountParts,
  amountText,
  bytes,
  coinsOf,
  counted,
  feeRate,
  rounded,
  unitsOf,
  whole,
} from '../../../../src/explorer/text/numbers.js'

describe('numbers', () => {
  it('groups digits', () => {
    expect(whole(1234567)).toBe('1\u202f234\u202f567')
    expect(whole(999)).toBe('999')
    expect(whole(10n ** 12n)).toBe('1\u202f000\u202f000\u202f000\u202f000')
  })

  it.each([
    ['9987.49999900', { sign: '', coins: '9\u202f987', decimals: '499999' }],
    ['-0.50000000', { sign: '-', coins: '0', decimals: '50' }],
    ['7', { sign: '', coins: '7', decimals: '00' }],
    ['1.00000001', { sign: '', coins: '1', decimals: '00000001' }],
  ])('takes %s apart', (text, parts) => expect(amountParts(text)).toEqual(parts))

  it.each(['', '1.', '.5', '1e3', '1.123456789', 'x', '--1', '9'.repeat(31)])('is no amount: %j', (text) => {
    expect(amountParts(text)).toBeUndefined()
    expect(unitsOf(text)).toBeUndefined()
  })

  it('counts amounts in units and back', () => {
    for (const text of ['0.00000001', '12.50000000', '-3.00000100']) expect(coinsOf(unitsOf(text) ?? 0n)).toBe(text)
  })

  it('names bytes and counts', () => {
    expect([0, 999, 1000, 12_345, 476_000, 2.5e9].map(bytes)).toEqual([
      '0 B',
      '999 B',
      '1.0 kB',
      '12.3 kB',
      '476 kB',
      '2.5 GB',
    ])
    expect(bytes(NaN)).toBe('?')
    expect([counted(1, 'block'), counted(2, 'block'), counted(2, 'entry', 'entries')]).toEqual([
      '1 block',
      '2 blocks',
      '2 entries',
    ])
  })

  it('rounds to few digits', () => {
    const values = [0, 0.004, 0.005, 1 / 3, 99.994, 99.5, 100.4, 1e6, NaN]
    expect(values.map(rounded)).toEqual(['0', '0', '0.01', '0.33', '99.99', '99.5', '100', '1\u202f000\u202f000', '?'])
    expect([0, 99.6, 123_456_789_012].map(amountText)).toEqual(['0.00', '0.000001', '1\u202f234.56789012'])
  })

  it.each([
    ['0.00000100', 200, '0.5'],
    ['0.00000100', 231, '0.43'],
    ['0.00002310', 231, '10'],
    ['0.01', 231, '4\u202f329'],
    ['0.00000000', 231, '0'],
    ['no amount', 231, '0'],
    ['0.01', 0, '?'],
  ])('a fee of %s for %s bytes is %s', (fee, size, text) => {
    expect(feeRate(fee, size)).toBe(text)
  })
})
