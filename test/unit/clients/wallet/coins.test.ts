import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import { sha256 } from '../../../../src/base/primitives/hash.js'
import { outpointKey } from '../../../../src/base/primitives/input.js'
import { type SpendableCoin, selectCoins, unusable } from '../../../../src/clients/wallet/coins.js'

const coinOf = (value: bigint, n: number, more: Partial<SpendableCoin> = {}): SpendableCoin => ({
  txid: sha256(`${n}`),
  index: n % 7,
  value,
  ...more,
})
const values = (coins: readonly SpendableCoin[]) => coins.map(({ value }) => value)
const sum = (coins: readonly SpendableCoin[]) => coins.reduce((total, { value }) => total + value, 0n)

const coinList = fc
  .array(
    fc.record({
      value: fc.bigInt({ min: 0n, max: 1000n }),
      confirmations: fc.option(fc.integer({ min: 0, max: 20 }), { nil: undefined }),
      coinbase: fc.boolean(),
      outputLock: fc.option(fc.integer({ min: 0, max: 30 }), { nil: undefined }),
    }),
    { maxLength: 12 },
  )
  .map((list) =>
    list.map(({ value, confirmations, coinbase, outputLock }, n) =>
      coinOf(value, n, {
        coinbase,
        ...(confirmations === undefined ? {} : { confirmations }),
        ...(outputLock === undefined ? {} : { outputLock }),
      }),
    ),
  )

describe('coin selection', () => {
  const context = { height: 15, maturity: 10 }
  const rates = fc.record({
    base: fc.bigInt({ min: 0n, max: 50n }),
    perInput: fc.bigInt({ min: 0n, max: 40n }),
    perChange: fc.bigInt({ min: 0n, max: 60n }),
  })

  it('spends exactly amount, fee and change, and fails only when everything usable is too little', () => {
    fc.assert(
      fc.property(
        coinList,
        fc.bigInt({ min: 0n, max: 4000n }),
        rates,
        (coins, amount, { base, perInput, perChange }) => {
          const feeOf = (inputs: number, change: boolean) =>
            base + perInput * BigInt(inputs) + (change ? perChange : 0n)
          const usable = coins.filter((coin) => coin.value > perInput && unusable(coin, context) === undefined)
          let selection
          try {
            selection = selectCoins({ ...context, coins, amount, feeOf })
          } catch (error) {
            expect(error).toBeInstanceOf(UserError)
            expect(usable.length === 0 || sum(usable) < amount + feeOf(usable.length, false)).toBe(true)
            return
          }
          const { fee, change } = selection
          expect(sum(selection.coins)).toBe(amount + fee + change)
          expect(selection.coins.every((coin) => usable.includes(coin))).toBe(true)
          expect(new Set(selection.coins.map(outpointKey)).size).toBe(selection.coins.length)
          expect(selection.coins.length).toBeGreaterThan(0)
          expect(change).toBeGreaterThanOrEqual(0n)
          // With change the fee is the asked one; without, it exceeds that by at most what the change output would cost.
          const asked = feeOf(selection.coins.length, change > 0n)
          expect(fee).toBeGreaterThanOrEqual(asked)
          expect(fee - asked).toBeLessThanOrEqual(change > 0n ? 0n : perChange)
        },
      ),
      { numRuns: 5000 },
    )
  })

  it('does not depend on the order of the coins', () => {
    const shuffled = coinList.chain((coins) =>
      fc.tuple(fc.constant(coins), fc.shuffledSubarray(coins, { minLength: coins.length })),
    )
    fc.assert(
      fc.property(shuffled, fc.bigInt({ min: 1n, max: 2000n }), ([coins, other], amount) => {
        const run = (list: readonly SpendableCoin[]) => {
          try {
            return selectCoins({ ...context, coins: list, amount, feeOf: () => 10n })
          } catch {
            return undefined
          }
        }
        expect(run(other)).toEqual(run(coins))
      }),
      { numRuns: 1000 },
    )
  })

  const free = () => 0n
  const select = (list: readonly SpendableCoin[], amount: bigint) =>
    values(selectCoins({ coins: list, amount, feeOf: free }).coins)

  it('takes as few coins as possible, and the smallest that suffices as the last', () => {
    const coins = [50n, 40n, 30n, 20n, 10n].map((value, n) => coinOf(value, n))
    expect(select(coins, 25n)).toEqual([30n])
    expect(select(coins, 50n)).toEqual([50n])
    expect(select(coins, 60n)).toEqual([50n, 10n])
    expect(select(coins, 150n)).toEqual([50n, 40n, 30n, 20n, 10n])
  })

  it('takes unconfirmed coins only where confirmed ones do not suffice', () => {
    const coins = [coinOf(10n, 0, { confirmations: 3 }), coinOf(100n, 1, { confirmations: 0 })]
    expect(select(coins, 10n)).toEqual([10n])
    expect(select(coins, 20n)).toEqual([10n, 100n])
  })

  it('leaves a remainder that no change output is worth to the fee', () => {
    const feeOf = (_: number, change: boolean) => (change ? 30n : 20n)
    const ask = (value: bigint) => selectCoins({ coins: [coinOf(value, 0)], amount: 100n, feeOf })
    expect(ask(120n)).toMatchObject({ fee: 20n, change: 0n })
    expect(ask(130n)).toMatchObject({ fee: 30n, change: 0n })
    expect(ask(131n)).toMatchObject({ fee: 30n, change: 1n })
    expect(() => ask(119n)).toThrow(/not enough coins: 0\.00000100 and a fee of 0\.00000020 to pay, 0\.00000119/)
  })

  it('knows outputs of genesis, which need not mature', () => {
    const genesis = coinOf(1n, 0, { coinbase: true, confirmations: 3 })
    expect(unusable(genesis, { height: 2, maturity: 10 })).toBeUndefined()
    expect(unusable(genesis, { height: 3, maturity: 10 })).toBe('immature')
  })

  it('says how much is immature and how much is locked', () => {
    const coins = [coinOf(5n, 0, { coinbase: true, confirmations: 9 }), coinOf(7n, 1, { outputLock: 16 })]
    expect(() => selectCoins({ ...context, coins, amount: 1n, feeOf: free })).toThrow(
      /0\.00000005 more is immature; 0\.00000007 more is locked/,
    )
  })

  it.each([
    ['an immature coinbase', coinOf(1n, 0, { coinbase: true, confirmations: 9 }), 'immature'],
    ['a mature coinbase', coinOf(1n, 0, { coinbase: true, confirmations: 10 }), undefined],
    ['an output of genesis on a longer chain', coinOf(1n, 0, { coinbase: true, confirmations: 16 }), undefined],
    ['a young ordinary coin', coinOf(1n, 0, { confirmations: 1 }), undefined],
    ['a lock above the tip', coinOf(1n, 0, { outputLock: 16 }), 'locked'],
    ['a lock at the tip', coinOf(1n, 0, { outputLock: 15 }), undefined],
    ['a coin of which nothing is known', coinOf(1n, 0), undefined],
  ])('judges %s', (_, coin, expected) => {
    expect(unusable(coin, context)).toBe(expected)
  })
})
