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

/** The fee of a transaction with so many inputs, with or without a change output. */
export type FeeFunction = (inputs: number, withChange: boolean) => bigint

/** Input of {@link selectCoins}. */
export interface SelectionRequest extends ChainContext {
  readonly coins: readonly SpendableCoin[]
  /** Sum of the outputs to pay. */
  readonly amount: bigint
  readonly feeOf: FeeFunction
  /** Coins that one transaction spends at most; no bound if absent. */
  readonly most?: number
}

/** The coins that can be spent are too few. */
export class FewCoinsError extends UserError {}

/** There are coins enough, but more of them are needed than one transaction may spend. */
export class ManyCoinsError extends UserError {}

/**
 * Chooses coins for an amount and its fee; the result does not depend on the order of the coins. Confirmed coins first: the
 * fewest that suffice (largest first). Then the smallest coin that still suffices replaces the last of them, which keeps large
 * coins whole. Unconfirmed coins only if those do not suffice, or are too many. coins = amount + fee + change holds exactly. A remainder
 * below the cost of a change output goes to the fee.
 *
 * A {@link UserError} states the spendable sum and what is missing, a {@link ManyCoinsError} what can be sent now.
 */
export function selectCoins(request: SelectionRequest): CoinSelection {
  const usable = usableCoins(request)
  const confirmed = usable.filter(({ confirmations }) => confirmations !== 0)
  const pending = usable.filter(({ confirmations }) => confirmations === 0)
  const selection = pick(confirmed, request) ?? pick([...confirmed, ...pending], request) ?? pick(usable, request)
  if (selection !== undefined) return selection
  const unbounded = pick(usable, { ...request, most: Infinity })
  throw unbounded === undefined ? notEnough(usable, request) : tooMany(usable, unbounded.coins.length, request)
}

/**
 * Chooses coins for an amount out of which the fee is paid: coins = amount + change holds exactly, and the payees get `amount - fee`. A
 * remainder below the cost of a change output pays a part of the fee.
 */
export function selectWithFee(request: SelectionRequest): CoinSelection & { readonly paid: bigint } {
  const { amount, feeOf } = request
  const { coins } = selectCoins({ ...request, coins: usableCoins(request), feeOf: () => 0n })
  const rest = totalOf(coins) - amount
  const keepsRest = rest > feeOf(coins.length, true) - feeOf(coins.length, false)
  const fee = feeOf(coins.length, keepsRest)
  const change = keepsRest ? rest : 0n
  const left = totalOf(coins) - change - fee
  const paid = left < amount ? left : amount
  if (paid > 0n) return { coins, fee: totalOf(coins) - change - paid, change, paid }
  throw new UserError(`the fee of ${formatAmount(fee)} leaves nothing of ${formatAmount(amount)}`)
}

/** Chooses all usable coins: coins = amount + fee + rest holds exactly, and the rest is above 0. */
export function selectAll(request: SelectionRequest): Omit<CoinSelection, 'change'> & { readonly rest: bigint } {
  const { amount, feeOf, most = Infinity } = request
  const coins = usableCoins(request)
  const fee = feeOf(Math.max(coins.length, 1), false)
  const rest = totalOf(coins) - amount - fee
  if (rest <= 0n) throw notEnough(coins, request)
  if (coins.length > most) throw tooMany(coins, coins.length, request)
  return { coins, fee, rest }
}

/** Coins to join, in groups of at most `most`: all confirmed ones, smallest first. No group costs more than it holds. */
export function coinsToMerge(request: Omit<SelectionRequest, 'amount'>): SpendableCoin[][] {
  const { feeOf, most = Infinity } = request
  const coins = usableCoins(request)
    .filter(({ confirmations }) => confirmations !== 0)
    .reverse()
  const groups: SpendableCoin[][] = []
  for (let start = 0; start < coins.length; start += most) groups.push(coins.slice(start, start + most))
  return groups.filter((group) => group.length > 1 && totalOf(group) > feeOf(group.length, false))
}

/** Coins that can be spent in the next block, largest first. One below the cost of its own input would only reduce the sum. */
function usableCoins(request: Omit<SelectionRequest, 'amount'>): SpendableCoin[] {
  const { coins, feeOf } = request
  const inputCost = feeOf(2, false) - feeOf(1, false)
  return coins.filter((coin) => coin.value > inputCost && unusable(coin, request) === undefined).sort(largestFirst)
}

function pick(coins: readonly SpendableCoin[], request: SelectionRequest): CoinSelection | undefined {
  const { amount, feeOf, most = Infinity } = request
  let sum = 0n
  for (const [index, last] of coins.entries()) {
    if (index >= most) return undefined
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

function totalOf(coins: readonly SpendableCoin[]): bigint {
  return coins.reduce((sum, { value }) => sum + value, 0n)
}

function notEnough(usable: readonly SpendableCoin[], request: SelectionRequest): FewCoinsError {
  const fee = request.feeOf(Math.max(usable.length, 1), false)
  const withheld = (['immature', 'locked'] as const).map((reason) => {
    const sum = totalOf(request.coins.filter((coin) => unusable(coin, request) === reason))
    return sum > 0n ? `; ${formatAmount(sum)} more is ${reason}` : ''
  })
  return new FewCoinsError(
    `not enough coins: ${request.amount > 0n ? `${formatAmount(request.amount)} and ` : ''}a fee of ${formatAmount(fee)} to pay, ` +
      `${formatAmount(totalOf(usable))} can be spent${withheld.join('')}`,
  )
}

/** The refusal of a selection that needs more coins than one transaction may spend. `usable` is sorted, largest first. */
function tooMany(
  usable: readonly SpendableCoin[],
  needed: number,
  { feeOf, most = Infinity }: SelectionRequest,
): UserError {
  // The next transaction may be some bytes longer: its nonce is another one.
  const now = totalOf(usable.slice(0, most)) - feeOf(most + 1, false)
  return new ManyCoinsError(
    `${needed} coins are needed, and one transaction spends at most ${most}: ${formatAmount(now)} can be sent now, by the largest ` +
      `of ${usable.length}; join small coins to send more at once`,
  )
}
