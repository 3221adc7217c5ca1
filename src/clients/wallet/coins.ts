import { UserError } from '../../base/errors/rule-error.js'
import { formatAmount } from '../../base/primitives/amount.js'
import { compareBytes } from '../../base/primitives/bytes.js'
import type { Outpoint } from '../../base/primitives/transaction-fields.js'

/** An unspent output of the paying address. Unknown members are absent. */
export interface SpendableCoin extends Outpoint {
  /** In units of 10^-8. */
  readonly value: bigint
  /** Height that the spender's lockTime must reach; 0 or absent is no lock. */
  readonly outputLock?: number
  readonly coinbase?: boolean
  /** 0 for an output of a transaction that is not mined yet. */
  readonly confirmations?: number
}

/** Facts about the chain for the choice of coins. */
export interface ChainContext {
  /** Height of the tip. */
  readonly height?: number
  /** Confirmations after which a coinbase output may be spent. */
  readonly maturity?: number
}

/** Why a coin cannot be spent in the next block; undefined if nothing known prevents it. */
export function unusable(coin: SpendableCoin, { height, maturity }: ChainContext): 'immature' | 'locked' | undefined {
  if (coin.coinbase && coin.confirmations !== undefined && maturity !== undefined) {
    // Spent in the next block, the coin will be as many blocks deep as it has confirmations now. Outputs of genesis are exempt.
    const genesis = height !== undefined && coin.confirmations > height
    if (coin.confirmations < maturity && !genesis) return 'immature'
  }
  // The spender's lockTime must reach the lock and stay below the height of the block that takes it.
  if (coin.outputLock && height !== undefined && coin.outputLock > height) return 'locked'
  return undefined
}

export interface CoinSelection {
  /** In the order they are spent. */
  readonly coins: readonly SpendableCoin[]
  readonly fee: bigint
  /** 0 without a change output. */
  readonly change: bigint
}

/** Input of {@link selectCoins}. */
export interface SelectionRequest extends ChainContext {
  readonly coins: readonly SpendableCoin[]
  /** Sum of the outputs to pay. */
  readonly amount: bigint
  /** The fee of a transaction with so many inputs, with or without a change output. */
  readonly feeOf: (inputs: number, withChange: boolean) => bigint
}

/**
 * Chooses coins for an amount and its fee; the result does not depend on the order of the coins. Confirmed coins first: the
 * fewest that suffice (largest first). Then the smallest coin that still suffices replaces the last of them, which keeps large
 * coins whole. Unconfirmed coins only if those do not suffice. coins = amount + fee + change holds exactly. A remainder below the
 * cost of a change output goes to the fee.
 *
 * A {@link UserError} states the spendable sum and what is missing.
 */
export function selectCoins(request: SelectionRequest): CoinSelection {
  const { feeOf } = request
  // A coin below the cost of its own input would only reduce the sum.
  const inputCost = feeOf(2, false) - feeOf(1, false)
  const usable = request.coins
    .filter((coin) => coin.value > inputCost && unusable(coin, request) === undefined)
    .sort(largestFirst)
  const confirmed = usable.filter(({ confirmations }) => confirmations !== 0)
  const pending = usable.filter(({ confirmations }) => confirmations === 0)
  const selection = pick(confirmed, request) ?? pick([...confirmed, ...pending], request)
  if (selection === undefined) throw notEnough(usable, request)
  return selection
}

function pick(coins: readonly SpendableCoin[], { amount, feeOf }: SelectionRequest): CoinSelection | undefined {
  let sum = 0n
  for (const [index, last] of coins.entries()) {
    sum += last.value
    const inputs = index + 1
    if (sum < amount + feeOf(inputs, false)) continue
    const others = sum - last.value
    const needed = amount + feeOf(inputs, false) - others
    const smallest = coins.slice(index).reduce((best, coin) => (better(coin, best, needed) ? coin : best), last)
    return settle([...coins.slice(0, index), smallest], others + smallest.value, amount, feeOf)
  }
  return undefined
}

/** Coins are sorted largest first within the confirmed and the unconfirmed; a smaller one that suffices is better. */
function better(coin: SpendableCoin, best: SpendableCoin, needed: bigint): boolean {
  return coin.value >= needed && coin.value < best.value && (coin.confirmations !== 0 || best.confirmations === 0)
}

function settle(coins: SpendableCoin[], sum: bigint, amount: bigint, feeOf: SelectionRequest['feeOf']): CoinSelection {
  const change = sum - amount - feeOf(coins.length, true)
  if (change > 0n) return { coins, fee: feeOf(coins.length, true), change }
  return { coins, fee: sum - amount, change: 0n }
}

function largestFirst(a: SpendableCoin, b: SpendableCoin): number {
  if (a.value !== b.value) return a.value > b.value ? -1 : 1
  return compareBytes(a.txid, b.txid) || a.index - b.index
}

function notEnough(usable: readonly SpendableCoin[], request: SelectionRequest): UserError {
  const total = (coins: readonly SpendableCoin[]) => coins.reduce((sum, { value }) => sum + value, 0n)
  const fee = request.feeOf(Math.max(usable.length, 1), false)
  const withheld = (['immature', 'locked'] as const).map((reason) => {
    const sum = total(request.coins.filter((coin) => unusable(coin, request) === reason))
    return sum > 0n ? `; ${formatAmount(sum)} more is ${reason}` : ''
  })
  return new UserError(
    `not enough coins: ${request.amount > 0n ? `${formatAmount(request.amount)} and ` : ''}a fee of ${formatAmount(fee)} to pay, ` +
      `${formatAmount(total(usable))} can be spent${withheld.join('')}`,
  )
}
