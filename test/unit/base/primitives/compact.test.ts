import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  bitsOf,
  difficultyText,
  easiestBits,
  powLimit,
  targetOf,
  validTarget,
  workOf,
} from '../../../../src/base/primitives/compact.js'
import { runs, u32 } from '../../../support/builders/arbitraries.js'

/** Byte by byte: the exponent is a length, the mantissa the number's first three bytes, its top bit the sign. */
function slowTarget(bits: number): bigint {
  const length = bits >>> 24
  const mantissa = [(bits >>> 16) & 0x7f, (bits >>> 8) & 0xff, bits & 0xff]
  let value = 0n
  for (let i = 0; i < Math.max(length, 0); i++) value = value * 256n + BigInt(mantissa[i] ?? 0)
  return (bits >>> 23) & 1 ? -value : value
}

function slowBits(target: bigint): number {
  let digits = target.toString(16)
  if (digits.length % 2 === 1) digits = `0${digits}`
  if (parseInt(digits.slice(0, 2), 16) > 0x7f) digits = `00${digits}`
  return parseInt((digits.length / 2).toString(16).padStart(2, '0') + digits.padEnd(6, '0').slice(0, 6), 16)
}

const target = fc.bigInt({ min: 1n, max: 255n }).chain((bits) => fc.bigInt({ min: 1n, max: (1n << bits) - 1n }))

describe('compact bits', () => {
  it('agree with the slow reading of them', () => {
    fc.assert(
      fc.property(u32, (bits) => targetOf(bits) === slowTarget(bits)),
      runs,
    )
  })

  it('agree with the slow way of writing them', () => {
    fc.assert(
      fc.property(target, (value) => bitsOf(value) === slowBits(value)),
      runs,
    )
  })

  it('keep the first two or three bytes of a target, and what they kept stays', () => {
    fc.assert(
      fc.property(target, (value) => {
        const kept = targetOf(bitsOf(value))
        expect(kept <= value).toBe(true)
        expect((value - kept) * 32768n <= value).toBe(true)
        expect(bitsOf(kept === 0n ? 1n : kept)).toBe(bitsOf(kept === 0n ? 1n : value))
      }),
      runs,
    )
  })

  it.each([
    [0x1f0008ff, 0x8ffn << 224n],
    [0x1d00ffff, 0xffffn << 208n],
    [0x207fffff, 0x7fffffn << 232n],
    [0x01003456, 0n],
    [0x01123456, 0x12n],
    [0x02123456, 0x1234n],
    [0x04923456, -0x12345600n],
    [0x04123456, 0x12345600n],
    [0, 0n],
  ])('%i is its target', (bits, expected) => {
    expect(targetOf(bits)).toBe(expected)
  })

  it('are valid above 0 and up to 2^255 - 1', () => {
    expect([0n, -1n, powLimit + 1n, targetOf(0xff7fffff)].some(validTarget)).toBe(false)
    expect([1n, powLimit, targetOf(easiestBits)].every(validTarget)).toBe(true)
  })
})

describe('work and difficulty', () => {
  it('grow as the target falls', () => {
    expect(workOf(0x207fffff)).toBe(2n)
    expect(workOf(0x1d00ffff)).toBe(0x100010001n)
    expect(difficultyText(0x1f0008ff, 0x1f0008ff)).toBe('1')
    expect(difficultyText(0x1e0008ff, 0x1f0008ff)).toBe('256')
    expect(difficultyText(0x1f000900, 0x1f0008ff)).toBe('0')
  })
})
