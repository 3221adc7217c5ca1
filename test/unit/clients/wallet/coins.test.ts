import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import { sha256 } from '../../../../src/base/primitives/hash.js'
import { outpointKey } from '../../../../src/base/primitives/input.js'
import { formatAmount } from '../../../../src/base/primitives/amount.js'
import {
  coinsToMerge,
  ManyCoinsError,
  selectAll,
  selectCoins,
  selectWithFee,
  type SpendableCoin,
  unusable,
} from '../../../../src/clients/wallet/coins.js'

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

describe('a bound of coins', () => {
  const coins = Array.from({ length: 30 }, (_, n) => coinOf(BigInt(100 + n), n, { confirmations: n < 3 ? 0 : 5 }))
  const feeOf = (inputs: number, change: boolean) => BigInt(10 + inputs + (change ? 2 : 0))

  it('is kept: the largest coins are spent where others would be too many', () => {
    const most = 5
    const largest = sum(coins.slice(-most)) - feeOf(most, false)
    expect(selectCoins({ coins, amount: largest, feeOf, most }).coins).toHaveLength(most)
    const refused = () => selectCoins({ coins, amount: largest + 1n, feeOf, most })
    expect(refused).toThrow(ManyCoinsError)
    expect(refused).toThrow(
      `6 coins are needed, and one transaction spends at most 5: ${formatAmount(largest - 1n)} can be sent now, by the largest of 30`,
    )
  })

  it('is no reason where there is too little', () => {
    const refused = () => selectCoins({ coins, amount: sum(coins), feeOf, most: 5 })
    expect(refused).toThrow(/^not enough coins/)
    expect(refused).not.toThrow(ManyCoinsError)
  })

  it('never selects more, whatever the coins, and refuses only what more coins would be needed for', () => {
    fc.assert(
      fc.property(
        coinList,
        fc.bigInt({ min: 1n, max: 4000n }),
        fc.integer({ min: 1, max: 6 }),
        (list, amount, most) => {
          const usable = list.filter((coin) => coin.value > 1n && unusable(coin, {}) === undefined)
          const best = usable.map(({ value }) => value).sort((a, b) => Number(b - a))
          const reaches = best
            .slice(0, most)
            .some((_, i) => best.slice(0, i + 1).reduce((a, b) => a + b, 0n) >= amount + feeOf(i + 1, false))
          if (reaches) expect(selectCoins({ coins: list, amount, feeOf, most }).coins.length).toBeLessThanOrEqual(most)
          else expect(() => selectCoins({ coins: list, amount, feeOf, most })).toThrow(UserError)
        },
      ),
    )
  })
})

describe('all coins', () => {
  const feeOf = (inputs: number, change: boolean) => BigInt(10 + 5 * inputs + (change ? 2 : 0))

  it('are spent, less the fee and other amounts', () => {
    const coins = [coinOf(100n, 1), coinOf(50n, 2), coinOf(5n, 3), coinOf(40n, 4, { outputLock: 99 })]
    const { coins: spent, fee, rest } = selectAll({ coins, amount: 30n, feeOf, height: 10 })
    expect([values(spent), fee, rest]).toEqual([[100n, 50n], 20n, 100n])
    expect(() => selectAll({ coins, amount: 130n, feeOf, height: 10 })).toThrow(/^not enough coins/)
    expect(selectAll({ coins, amount: 129n, feeOf, height: 10 }).rest).toBe(1n)
    expect(() => selectAll({ coins, amount: 0n, feeOf, height: 10, most: 1 })).toThrow(ManyCoinsError)
    expect(() => selectAll({ coins: [], amount: 0n, feeOf })).toThrow(/^not enough coins/)
  })

  it('are joined in groups that are worth their fee, without those that wait', () => {
    const coins = [30n, 10n, 20n, 40n, 6n, 7n].map((value, n) => coinOf(value, n, { confirmations: n === 3 ? 0 : 5 }))
    const groups = (most: number) => coinsToMerge({ coins, feeOf, most }).map(values)
    expect(groups(9)).toEqual([[6n, 7n, 10n, 20n, 30n]])
    expect(groups(2)).toEqual([[10n, 20n]])
    expect(groups(3)).toEqual([[20n, 30n]])
    expect(groups(1)).toEqual([])
  })
})

describe('a fee out of the amount', () => {
  const feeOf = (inputs: number, change: boolean) => BigInt(10 + 5 * inputs + (change ? 2 : 0))

  it('leaves coins = paid + fee + change, and never pays more than the amount', () => {
    fc.assert(
      fc.property(coinList, fc.bigInt({ min: 1n, max: 3000n }), (coins, amount) => {
        let selection
        try {
          selection = selectWithFee({ coins, amount, feeOf })
        } catch (error) {
          expect(error).toBeInstanceOf(UserError)
          return
        }
        const { coins: spent, fee, change, paid } = selection
        expect(paid + fee + change).toBe(sum(spent))
        expect(paid > 0n && paid <= amount).toBe(true)
        expect(fee >= feeOf(spent.length, change > 0n)).toBe(true)
        if (change > 0n) expect([fee, paid]).toEqual([feeOf(spent.length, true), amount - fee])
      }),
    )
  })

  it('needs an amount above it', () => {
    const coins = [coinOf(100n, 1)]
    expect(selectWithFee({ coins, amount: 18n, feeOf }).paid).toBe(1n)
    expect(() => selectWithFee({ coins, amount: 17n, feeOf })).toThrow('leaves nothing of')
    expect(selectWithFee({ coins, amount: 100n, feeOf })).toMatchObject({ paid: 85n, fee: 15n, change: 0n })
    expect(selectWithFee({ coins, amount: 99n, feeOf })).toMatchObject({ paid: 85n, fee: 15n, change: 0n })
  })
})

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
