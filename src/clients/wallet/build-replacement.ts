import { UserError } from '../../base/errors/rule-error.js'
import { addressOf } from '../../base/primitives/address.js'
import { formatAmount } from '../../base/primitives/amount.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import type { Output } from '../../base/primitives/output.js'
import { txType } from '../../base/primitives/payload.js'
import type { Transaction } from '../../base/primitives/transaction.js'
import { transactionBounds } from '../../base/primitives/transaction-bounds.js'
import type { TransactionFields } from '../../base/primitives/transaction-fields.js'
import { emptyFields, finished, inputOf, payerOf, type Payment, type UnsignedTransaction } from './build-transaction.js'
import {
  type CoinSelection,
  FewCoinsError,
  type FeeFunction,
  selectCoins,
  type SelectionRequest,
  type SpendableCoin,
} from './coins.js'
import { feeFunction, mostInputs, type Prices, sizeFunction, type SizeFunction } from './fee.js'
import { requirePayment, requireReplacement } from './payment-forms.js'

/** A transaction that waits for a block, with the coins that it spends, in the order of its inputs. */
export interface WaitingTransaction {
  readonly transaction: Transaction
  readonly spent: readonly SpendableCoin[]
}

/** The payer's and the chain's part of a replacement; its confirmed coins are spent where the change does not suffice. */
export interface ReplacementPayment extends Omit<Payment, 'fee' | 'lockTime' | 'feeFromAmount'> {
  /** Prices by which the least fee is found. */
  readonly fee: Prices
}

export interface ReplacementOptions {
  /** Pays all to the payer, without the outputs and the operation of the one that is replaced. */
  readonly cancel?: boolean
  /** Fee in units of 10^-8; absent: the least that a pool takes. */
  readonly fee?: bigint
  /** Fee by the bytes of the signed transaction, in units of 10^-8 for 1000. */
  readonly feeRate?: number
}

/**
 * Builds a transaction that replaces one that waits: it spends the same coins, and does the same for a higher fee, which is taken out of the
 * change, or nothing at all. A {@link UserError} if the payer does not own all inputs, the fee is too low, or there are no coins for it.
 */
export function buildReplacement(
  payment: ReplacementPayment,
  waiting: WaitingTransaction,
  options: ReplacementOptions = {},
): UnsignedTransaction {
  requirePayment(payment)
  requireReplacement(payment, options)
  const { code, bounds = transactionBounds } = payment
  requireOwn(waiting, code)
  const { transaction, spent } = waiting
  const fields = fieldsOf(payment, transaction, options.cancel === true)
  const sizeOf = sizeFunction(fields)
  const leastOf = leastFees(payment, waiting, sizeOf)
  const feeOf = wishedFees(leastOf, (more, withChange) => sizeOf(spent.length + more, withChange).signedSize, options)
  const missing = sumOf(fields.outputs) - sumOf(spent)
  const most = mostInputs(sizeOf, bounds) - spent.length
  const added =
    withoutCoins(-missing, feeOf, fields) ?? withCoins({ ...payment, amount: missing, feeOf, most }, transaction)
  const { coins, fee, change } = added
  const least = leastOf(coins.length, change > 0n)
  if (fee < least) throw tooLow(fee, least, waiting)
  if (change === 0n && fields.outputs.length === 0) {
    throw new UserError(`the fee of ${formatAmount(fee)} leaves nothing of what ${transaction.txid} spends`)
  }
  const { lockTime } = transaction
  return finished(payment, fields, {
    inputs: [...transaction.inputs, ...coins.map((coin) => inputOf(coin, lockTime))],
    lockTime: Math.max(lockTime, ...coins.map(({ outputLock = 0 }) => outputLock)),
    spent: [...spent, ...coins],
    fee,
    change,
  })
}

/** Refuses a transaction that others sign too: their part of it is not the payer's to change. */
function requireOwn({ transaction, spent }: WaitingTransaction, code: Uint8Array): void {
  const [program, ...others] = transaction.programs
  if (program === undefined || others.length > 0 || !equalBytes(program.code, code)) {
    throw new UserError(`${transaction.txid} is not paid by ${addressOf(payerOf(code))} alone`)
  }
  if (spent.length !== transaction.inputs.length) {
    throw new UserError(
      `${transaction.txid} has ${transaction.inputs.length} inputs, of which ${spent.length} are known`,
    )
  }
}

/** The replacement without inputs and change. */
function fieldsOf(payment: ReplacementPayment, transaction: Transaction, cancel: boolean): TransactionFields {
  const empty = emptyFields(payment, 9, { type: txType.transfer }, [])
  if (cancel) return empty
  const { version, payloadVersion, payload, attributes } = transaction
  return { ...empty, version, payloadVersion, payload, attributes, outputs: withoutChange(payment, transaction) }
}

/** The outputs but for the change: the last one to the payer that is not locked. */
function withoutChange({ code }: ReplacementPayment, { outputs }: Transaction): readonly Output[] {
  const payer = payerOf(code)
  const change = outputs.findLastIndex(
    ({ programHash, value, outputLock }) => value > 0n && outputLock === 0 && equalBytes(programHash, payer),
  )
  return outputs.filter((_, index) => index !== change)
}

/** The least fee that pools take, by the number of further inputs. They are confirmed: no ancestor lowers the price of a byte. */
function leastFees(
  { fee: prices }: ReplacementPayment,
  { transaction, spent }: WaitingTransaction,
  sizeOf: SizeFunction,
): FeeFunction {
  const priceOf = feeFunction(sizeOf, prices, {})
  const before = sumOf(spent) - sumOf(transaction.outputs)
  return (more, withChange) => {
    const inputs = spent.length + more
    const price = before + priceOf(inputs, withChange)
    const above = (before * BigInt(sizeOf(inputs, withChange).signedSize)) / BigInt(transaction.bytes.length) + 1n
    return price > above ? price : above
  }
}

/** The fee that the user chose, or the least. */
function wishedFees(
  leastOf: FeeFunction,
  bytesOf: (more: number, withChange: boolean) => number,
  { fee, feeRate }: ReplacementOptions,
): FeeFunction {
  if (fee !== undefined) return () => fee
  if (feeRate === undefined) return leastOf
  return (more, withChange) => (BigInt(feeRate) * BigInt(bytesOf(more, withChange)) + 999n) / 1000n
}

function tooLow(fee: bigint, least: bigint, { transaction, spent }: WaitingTransaction): UserError {
  const before = sumOf(spent) - sumOf(transaction.outputs)
  return new UserError(
    `a fee of ${formatAmount(fee)} is too low: ${transaction.txid} pays ${formatAmount(before)}, and ${formatAmount(least)} replaces it`,
  )
}

/** The change that is left of `rest` without further coins; undefined if it does not pay the fee. */
function withoutCoins(rest: bigint, feeOf: FeeFunction, { outputs }: TransactionFields): CoinSelection | undefined {
  const change = rest - feeOf(0, true)
  if (change > 0n) return { coins: [], fee: feeOf(0, true), change }
  // Less than the cost of a change output goes to the fee.
  return outputs.length > 0 && rest >= feeOf(0, false) ? { coins: [], fee: rest, change: 0n } : undefined
}

/** Confirmed coins for what the change does not pay. */
function withCoins(request: SelectionRequest, { txid }: Transaction): CoinSelection {
  const coins = request.coins.filter(({ confirmations }) => confirmations !== 0)
  try {
    return selectCoins({ ...request, coins })
  } catch (error) {
    if (!(error instanceof FewCoinsError)) throw error
    const fee = formatAmount(request.feeOf(0, false))
    throw new FewCoinsError(
      `the change of ${txid} does not pay a fee of ${fee}, nor do other confirmed coins: ${error.message}`,
    )
  }
}

function sumOf(all: readonly { readonly value: bigint }[]): bigint {
  return all.reduce((sum, { value }) => sum + value, 0n)
}
