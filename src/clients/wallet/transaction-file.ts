import { RuleError, UserError } from '../../base/errors/rule-error.js'
import { addressOf, parseAddress } from '../../base/primitives/address.js'
import { formatAmount, parseAmount } from '../../base/primitives/amount.js'
import { displayHash } from '../../base/primitives/bytes.js'
import { defined } from '../../base/primitives/defined.js'
import { Transaction } from '../../base/primitives/transaction.js'
import { payerOf, type UnsignedTransaction } from './build-transaction.js'
import { parseJson } from './parse-json.js'
import { isSigned } from './sign-transaction.js'

/** The output that one input spends: a transaction lacks these amounts, so offline signers read them here. */
export interface SpentOutput {
  readonly txid: string
  readonly index: number
  /** Eight decimals. */
  readonly value: string
  readonly address: string
}

/** A transaction on its way between the machines that build, sign and send it. */
export interface TransactionFile {
  readonly transaction: Transaction
  /** In the order of the inputs; absent if the file held only hex. */
  readonly spent?: readonly SpentOutput[]
}

const format = 'didledger-transaction'

/** A built transaction as a file. */
export function fileOf({ transaction, spent }: UnsignedTransaction): TransactionFile {
  const code = transaction.programs[0]?.code
  const address = code === undefined ? '' : addressOf(payerOf(code))
  return {
    transaction,
    spent: spent.map(({ txid, index, value }) => ({
      txid: displayHash(txid),
      index,
      value: formatAmount(value),
      address,
    })),
  }
}

/** Inputs less outputs, in units of 10^-8; undefined if the file lacks the values of the inputs. */
export function feeOf({ transaction, spent }: TransactionFile): bigint | undefined {
  if (spent === undefined) return undefined
  const inputs = spent.reduce((sum, { value }) => sum + (parseAmount(value) ?? 0n), 0n)
  return inputs - transaction.outputs.reduce((sum, { value }) => sum + value, 0n)
}

/** The JSON of a transaction file; `txid`, `fee` and `signed` are for human readers. */
export function transactionFileJson(file: TransactionFile): Record<string, unknown> {
  const { transaction, spent } = file
  const fee = feeOf(file)
  return {
    format,
    version: 1,
    txid: transaction.txid,
    signed: isSigned(transaction),
    ...(fee === undefined ? {} : { fee: formatAmount(fee) }),
    ...defined({ spent }),
    hex: transaction.toHex(),
  }
}

/**
 * Reads a transaction file, or plain hex as the family's tools write it. The spent outputs must be those of the inputs, in their
 * order, and worth at least the outputs. A {@link UserError} describes any fault.
 */
export function parseTransactionFile(text: string): TransactionFile {
  const trimmed = text.trim()
  if (!trimmed.startsWith('{')) return { transaction: decode(trimmed) }
  const value = parseJson(text, 'the transaction file') as Record<string, unknown>
  if (value['format'] !== format || typeof value['hex'] !== 'string') {
    throw new UserError(`not a transaction file: it needs "format": "${format}" and "hex"`)
  }
  if (value['version'] !== 1) throw new UserError(`a transaction file of version ${String(value['version'])}, not 1`)
  const transaction = decode(value['hex'])
  if (value['spent'] === undefined) return { transaction }
  const file = { transaction, spent: spentOutputs(value['spent'], transaction) }
  if ((feeOf(file) ?? 0n) < 0n)
    throw new UserError('the transaction file is wrong: the outputs exceed the spent outputs')
  return file
}

function decode(hexText: string): Transaction {
  try {
    return Transaction.fromHex(hexText)
  } catch (error) {
    if (error instanceof RuleError) throw new UserError(`the file holds no transaction: ${error.message}`)
    throw error
  }
}

function spentOutputs(value: unknown, { inputs }: Transaction): SpentOutput[] {
  const entries = Array.isArray(value) ? (value as (Partial<SpentOutput> | null)[]) : []
  const wrong = (reason: string) => new UserError(`the transaction file is wrong: ${reason}`)
  if (entries.length !== inputs.length) throw wrong(`${inputs.length} inputs, but ${entries.length} spent outputs`)
  return inputs.map((input, i) => {
    const { txid, index, value: amount, address } = entries[i] ?? {}
    if (txid !== displayHash(input.txid) || index !== input.index)
      throw wrong(`spent[${i}] is not what input ${i} spends`)
    if (typeof amount !== 'string' || parseAmount(amount) === undefined) throw wrong(`spent[${i}].value is no amount`)
    // Commands print the address, also in lines to paste, so no other text is accepted.
    if (typeof address !== 'string' || parseAddress(address) === undefined) {
      throw wrong(`spent[${i}].address is no address`)
    }
    return { txid, index, value: amount, address }
  })
}
