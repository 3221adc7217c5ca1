import { Writer } from '../../base/primitives/codec.js'
import { type Fees, leastFee, poolFees, type Room } from '../../base/primitives/fees.js'
import { parseCode } from '../../base/primitives/program.js'
import { Transaction } from '../../base/primitives/transaction.js'
import type { TransactionFields } from '../../base/primitives/transaction-fields.js'

/** Prices by which a wallet finds the fee of a transaction before it is signed: those of the chain, and of a pool. */
export interface Prices extends Fees {
  /** In units of 10^-8 for 1000 bytes of the signed transaction, the present price of a full pool; 0 if absent. */
  readonly floor?: number
}

/** Bytes of a transaction, its signatures included. */
interface Sizes extends Room {
  readonly signedSize: number
}

/** Bytes of one signature in a program parameter. */
const signatureSize = 65
const inputSize = 38

/** The least fee with which pools take a transaction, signed or not. */
export function neededFee(transaction: Transaction, prices: Prices, newLeaf = false): bigint {
  const { unsignedSize } = transaction
  return priceOf({ unsignedSize, signedSize: unsignedSize + programsSize(transaction), newLeaf }, prices)
}

/**
 * {@link neededFee} by the number of inputs, with or without a change output. Only counts change the size; one program unlocks all
 * inputs.
 */
export function feeFunction(
  fields: TransactionFields,
  prices: Prices,
  newLeaf: boolean,
): (inputs: number, withChange: boolean) => bigint {
  const outputs = fields.outputs.length
  const outputSize = fields.version === 9 ? 66 : 65
  const programs = programsSize(fields)
  const empty = new Transaction(fields).unsignedSize - countSize(0) - countSize(outputs)
  return (inputs, withChange) => {
    const counts = countSize(inputs) + countSize(withChange ? outputs + 1 : outputs)
    const unsignedSize = empty + counts + inputs * inputSize + (withChange ? outputSize : 0)
    return priceOf({ unsignedSize, signedSize: unsignedSize + programs, newLeaf }, prices)
  }
}

function priceOf(sizes: Sizes, prices: Prices): bigint {
  const least = leastFee(poolFees(prices), sizes)
  const byFloor = (BigInt(prices.floor ?? 0) * BigInt(sizes.signedSize) + 999n) / 1000n
  return byFloor > least ? byFloor : least
}

/** Bytes of the programs with all signatures that their codes ask for. */
function programsSize({ programs }: Pick<TransactionFields, 'programs'>): number {
  return programs.reduce((sum, { code, parameter }) => {
    const signatures = (parseCode(code)?.required ?? 0) * signatureSize
    const length = Math.max(signatures, parameter.length)
    return sum + countSize(length) + length + countSize(code.length) + code.length
  }, countSize(programs.length))
}

function countSize(count: number): number {
  return new Writer(16).varuint(count).finish().length
}
