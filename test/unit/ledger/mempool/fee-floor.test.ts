import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FeeFloor } from '../../../../src/ledger/mempool/fee-floor.js'
import { compareRates, type Paid, priced, ratePerThousand, rateText } from '../../../../src/ledger/mempool/fee-rate.js'
import { policy } from '../../../../src/ledger/mempool/policy.js'
import { Transaction } from '../../../../src/base/primitives/transaction.js'
import { runs } from '../../../support/builders/arbitraries.js'

const paid = fc.record({ fee: fc.bigInt({ min: 0n, max: 1n << 63n }), bytes: fc.integer({ min: 1, max: 20_000_000 }) })

/** A record of some size, or a side-chain proof. */
function transaction(type: 3 | 5): Transaction {
  const proof = { sideBlockHash: new Uint8Array(32), sideGenesisHash: new Uint8Array(32), blockHeight: 1 }
  const payload =
    type === 3
      ? ({ type, recordType: '', content: new Uint8Array(500) } as const)
      : ({ type, ...proof, signedData: new Uint8Array(64) } as const)
  const nothing = { attributes: [], inputs: [], outputs: [], lockTime: 0, programs: [] }
  return new Transaction({ version: 0, payloadVersion: 0, payload, ...nothing })
}

describe('the price of a byte', () => {
  it('is compared without rounding', () => {
    fc.assert(
      fc.property(paid, paid, (a, b) => {
        const exact = a.fee * BigInt(b.bytes) - b.fee * BigInt(a.bytes)
        expect(Math.sign(compareRates(priced(a.fee, a.bytes), priced(b.fee, b.bytes)))).toBe(
          exact > 0n ? 1 : exact < 0n ? -1 : 0,
        )
      }),
      runs,
    )
    // Doubles take these for equal.
    const [more, less] = [priced(9_007_199_254_740_993n, 3), priced(9_007_199_254_740_992n, 3)]
    expect(more.rate).toBe(less.rate)
    expect(compareRates(more, less)).toBeGreaterThan(0)
  })

  it('is told for a byte, rounded up to a thousandth', () => {
    expect([0n, 1n, 620n, 621n].map((fee) => rateText(ratePerThousand({ fee, bytes: 200 })))).toEqual([
      '0',
      '0.005',
      '3.1',
      '3.105',
    ])
    expect(ratePerThousand({ fee: 1n, bytes: 3000 })).toBe(1)
  })
})

describe('the floor of the pool', () => {
  it('is, for a full pool, 10 sela for 1000 bytes above what left it, and half of that an hour later', () => {
    const clock = { time: 5_000_000_000, now: () => clock.time }
    const floor = new FeeFloor(clock, policy, () => policy.poolSize)
    floor.raise({ fee: 2000n, bytes: 1000 })
    expect(floor.perThousand).toBe(2010)
    clock.time += 60 * 60 * 1000
    expect(floor.perThousand).toBe(1005)
  })

  const size = 1000
  function floorOf(bytes: number) {
    const clock = { time: 5_000_000_000, now: () => clock.time }
    const pool = { bytes }
    const limits = { poolSize: size, floorHalfLife: 1000, floorStep: 10 }
    return { clock, pool, floor: new FeeFloor(clock, limits, () => pool.bytes) }
  }
  const evicted: Paid = { fee: 790_000n, bytes: 1000 }

  it('rises a step above what was evicted, and never sinks for it', () => {
    const { floor } = floorOf(size)
    expect(floor.perThousand).toBe(0)
    floor.raise(evicted)
    expect(floor.perThousand).toBe(790_010)
    floor.raise({ fee: 1n, bytes: 1000 })
    expect(floor.perThousand).toBe(790_010)
  })

  it('takes what pays just as much, refuses what pays less, and tells what is needed', () => {
    const { floor } = floorOf(size)
    const one = transaction(3)
    floor.raise({ fee: 3_090n, bytes: 1000 })
    const least = BigInt(Math.ceil(3.1 * one.bytes.length))
    floor.require(one, least)
    expect(() => floor.require(one, least - 1n)).toThrow(/^3\.1 sela a byte are needed now/)
    expect(() => floor.require(one, least - 1n)).toThrow(expect.objectContaining({ code: 'fee-too-low' }) as Error)
    // Their order is not one of fees.
    floor.require(transaction(5), 0n)
  })

  it('sinks by half in each half-life, four times as fast in a pool half empty, and ends far from full', () => {
    const { clock, pool, floor } = floorOf(size)
    floor.raise(evicted)
    clock.time += 1000
    expect(floor.perThousand).toBe(395_005)
    pool.bytes = size / 2
    clock.time += 1000
    expect(floor.perThousand).toBe(197_503)
    pool.bytes = size / 2 - 1
    clock.time += 250
    expect(floor.perThousand).toBe(98_752)
    pool.bytes = size / 4
    expect(floor.perThousand).toBe(98_752)
    pool.bytes = size / 4 - 1
    expect(floor.perThousand).toBe(0)
    pool.bytes = size
    expect(floor.perThousand).toBe(0)
  })

  it('sinks by half in an hour, by the policy', () => {
    const clock = { time: 5_000_000_000, now: () => clock.time }
    const floor = new FeeFloor(clock, policy, () => policy.poolSize)
    floor.raise({ fee: 1_000_000_000n, bytes: 1000 })
    clock.time += 3_600_000
    expect(floor.perThousand).toBe(500_000_005)
  })

  it('ends below half a step, and is not moved by a clock that goes back', () => {
    const { clock, floor } = floorOf(size)
    floor.raise({ fee: 0n, bytes: 1000 })
    expect(floor.perThousand).toBe(10)
    clock.time -= 100_000
    expect(floor.perThousand).toBe(10)
    clock.time += 1000
    expect(floor.perThousand).toBe(5)
    clock.time += 1
    expect(floor.perThousand).toBe(0)
  })

  it('is never more than a number that can be told', () => {
    const { floor } = floorOf(size)
    floor.raise({ fee: 1n << 63n, bytes: 1 })
    expect(floor.perThousand).toBe(Number.MAX_SAFE_INTEGER)
    expect(policy.floorStep).toBeGreaterThan(0)
  })
})
