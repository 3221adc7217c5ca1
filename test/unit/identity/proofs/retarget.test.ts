import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { easiestBits } from '../../../../src/base/primitives/compact.js'
import { type Ancestry, medianTime, requiredBits } from '../../../../src/identity/proofs/retarget.js'
import { runs, u32 } from '../../../support/builders/arbitraries.js'

/** Ancestors with these times and bits; the last one is the parent. */
function ancestry(times: readonly number[], bits: (height: number) => number = () => 0x207fffff): Ancestry {
  const at = (height: number) => ({ height, time: times[height] as number, bits: bits(height) })
  return { parent: at(times.length - 1), at }
}

/** The middle of the last eleven times, found by counting. */
function slowMedian(times: readonly number[]): number {
  const last = times.slice(-11)
  const place = Math.floor(last.length / 2)
  return last.find((time) => {
    const below = last.filter((other) => other < time).length
    const notAbove = last.filter((other) => other <= time).length
    return below <= place && place < notAbove
  }) as number
}

describe('the median time', () => {
  it('is the middle of the last eleven', () => {
    fc.assert(
      fc.property(fc.array(u32, { minLength: 1, maxLength: 25 }), (times) => {
        const { parent, at } = ancestry(times)
        expect(medianTime(parent, at)).toBe(slowMedian(times))
      }),
      runs,
    )
  })

  it('is the upper one of two', () => {
    const { parent, at } = ancestry([5, 3])
    expect(medianTime(parent, at)).toBe(5)
  })
})

/** A compact target by the words of its definition: sign bit, 23 bits of mantissa, exponent in bytes. */
function expand(bits: number): bigint {
  const mantissa = BigInt(bits % 0x800000)
  const exponent = Math.floor(bits / 0x1000000)
  return exponent < 3 ? mantissa / 256n ** BigInt(3 - exponent) : mantissa * 256n ** BigInt(exponent - 3)
}

/** The compact form of a target: its three highest bytes, four places down where the sign would be set. */
function compress(target: bigint): number {
  let digits = target.toString(16)
  if (digits.length % 2 === 1) digits = `0${digits}`
  if (parseInt(digits.slice(0, 2), 16) >= 0x80) digits = `00${digits}`
  return (digits.length / 2) * 0x1000000 + parseInt(digits.padEnd(6, '0').slice(0, 6), 16)
}

function slowBits(interval: number, spacing: number, times: readonly number[], parentBits: number, limit: number) {
  const height = times.length
  if (height === 1 || limit === 0x207fffff) return limit
  if (height % interval !== 0) return parentBits
  const took = BigInt((times[height - 1] as number) - (times[height - interval] as number))
  const wanted = BigInt(interval * spacing)
  const least = wanted / 4n
  const most = wanted * 4n
  const elapsed = took < least ? least : took > most ? most : took
  const target = (expand(parentBits) * elapsed) / wanted
  const greatest = 2n ** 255n - 1n
  return compress(target > greatest ? greatest : target)
}

describe('the required bits', () => {
  const limit = 0x1f0008ff

  it('are those of a slower calculation', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 12 }),
        fc.integer({ min: 1, max: 400 }),
        fc.array(fc.integer({ min: 0, max: 2000 }), { minLength: 1, maxLength: 40 }),
        fc.constantFrom(limit, 0x1e1da5ff, 0x1d00ffff, 0x207ffffe, 0x1f7fffff, 0x1b0404cb),
        (interval, spacing, gaps, bits) => {
          let now = 0
          const times = gaps.map((gap) => (now += gap))
          const chain = { powLimitBits: limit, retarget: { interval, spacing } }
          const wanted = slowBits(interval, spacing, times, bits, limit)
          expect(
            requiredBits(
              chain,
              ancestry(times, () => bits),
            ),
          ).toBe(wanted)
        },
      ),
      runs,
    )
  })

  const interval = 10
  const chain = { powLimitBits: limit, retarget: { interval, spacing: 100 } }
  /** The bits of the first block of the second window when the first one took this long. */
  const after = (seconds: number, bits = 0x1d00ffff) => {
    const times = Array.from({ length: interval }, (_, height) => (height === interval - 1 ? seconds : 0))
    return requiredBits(
      chain,
      ancestry(times, () => bits),
    )
  }

  it('stay when the window took what it should, and only change at its end', () => {
    expect(after(1000)).toBe(0x1d00ffff)
    expect(
      requiredBits(
        chain,
        ancestry([0, 0, 0, 0, 0, 0, 0, 0, 0], () => 0x1d00ffff),
      ),
    ).toBe(0x1d00ffff)
    expect(
      requiredBits(
        chain,
        ancestry(new Array<number>(11).fill(0), () => 0x1d00ffff),
      ),
    ).toBe(0x1d00ffff)
  })

  it('change by a factor of four at most', () => {
    expect(after(250)).toBe(compress(expand(0x1d00ffff) / 4n))
    expect(after(0)).toBe(after(250))
    expect(after(4000)).toBe(compress(expand(0x1d00ffff) * 4n))
    expect(after(4_000_000)).toBe(after(4000))
  })

  it('never pass the greatest target', () => {
    expect(after(4000, 0x207ffffe)).toBe(0x207fffff)
  })

  it('are the limit above genesis, and always on a chain with the easiest one', () => {
    expect(
      requiredBits(
        chain,
        ancestry([0], () => 1),
      ),
    ).toBe(limit)
    const easiest = { powLimitBits: easiestBits, retarget: { interval: 2, spacing: 100 } }
    expect(
      requiredBits(
        easiest,
        ancestry([0, 0, 0, 0], () => 0x1d00ffff),
      ),
    ).toBe(0x207fffff)
  })
})
