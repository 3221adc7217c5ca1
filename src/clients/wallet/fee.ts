import { Writer } from '../../base/primitives/codec.js'
import { namedDid } from '../../identity/did/named-did.js'
import { nameLengthOf } from '../../base/primitives/did-name.js'
import { canFollow, operationForm } from '../../base/primitives/did-operation.js'
import { type Payload, txType } from '../../base/primitives/payload.js'
import { type Fees, leastFee, poolFees, type Room } from '../../base/primitives/fees.js'
import type { TransactionBounds } from '../../base/primitives/transaction-bounds.js'
import { parseCode } from '../../base/primitives/program.js'
import { Transaction } from '../../base/primitives/transaction.js'
import type { TransactionFields } from '../../base/primitives/transaction-fields.js'
import type { FeeFunction } from './coins.js'

/** Prices by which a wallet finds the fee of a transaction before it is signed: those of the chain, and of a pool. */
export interface Prices extends Fees {
  /** In units of 10^-8 for 1000 bytes of the signed transaction, the present price of a full pool; 0 if absent. */
  readonly floor?: number
}

/** Bytes of a transaction, and with its signatures. */
interface Sizes {
  readonly unsignedSize: number
  readonly signedSize: number
}

/** Sizes of a transaction by the number of inputs, with or without a change output. */
export type SizeFunction = (inputs: number, withChange: boolean) => Sizes

/** Bytes of one signature in a program parameter. */
const signatureSize = 65
const inputSize = 38

/** The least fee with which pools take a transaction, signed or not. */
export function neededFee(transaction: Transaction, prices: Prices, newLeaf = false): bigint {
  const { unsignedSize, payload } = transaction
  return priceOf(
    { unsignedSize, signedSize: unsignedSize + programsSize(transaction) },
    prices,
    addedBy(payload, newLeaf),
  )
}

/** {@link neededFee} by the number of inputs, with or without a change output. */
export function feeFunction(sizeOf: SizeFunction, prices: Prices, added: Added): FeeFunction {
  return (inputs, withChange) => priceOf(sizeOf(inputs, withChange), prices, added)
}

/** Additions of a transaction to the state, besides coins, for which it pays. */
export type Added = Pick<Room, 'newLeaf' | 'nameLength'>

/** `newLeaf`: whether its operation adds a leaf for a credential, which the chain alone can tell. */
export function addedBy(payload: Payload, newLeaf: boolean): Added {
  const form = payload.type === txType.did ? operationForm(payload.operation) : undefined
  if (payload.type !== txType.did || form === undefined || form.subject !== 'did' || !canFollow(form, undefined)) {
    return { newLeaf }
  }
  return { newLeaf, nameLength: nameLengthOf(namedDid(payload.operation) ?? '') }
}

/** Sizes of a transaction that has no inputs yet. Only counts change them: one program unlocks all inputs. */
export function sizeFunction(fields: TransactionFields): SizeFunction {
  const outputs = fields.outputs.length
  const outputSize = fields.version === 9 ? 66 : 65
  const programs = programsSize(fields)
  const empty = new Transaction(fields).unsignedSize - countSize(0) - countSize(outputs)
  return (inputs, withChange) => {
    const counts = countSize(inputs) + countSize(withChange ? outputs + 1 : outputs)
    const unsignedSize = empty + counts + inputs * inputSize + (withChange ? outputSize : 0)
    return { unsignedSize, signedSize: unsignedSize + programs }
  }
}

/** The number of inputs, at most, with which a transaction keeps to bounds; 0 or less where it would not even with one. */
export function mostInputs(sizeOf: SizeFunction, { inputs, size }: Pick<TransactionBounds, 'inputs' | 'size'>): number {
  const beyond = sizeOf(inputs, true).signedSize - size
  return beyond <= 0 ? inputs : inputs - Math.ceil(beyond / inputSize)
}

function priceOf(sizes: Sizes, prices: Prices, added: Added): bigint {
  const least = leastFee(poolFees(prices), { ...sizes, ...added })
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
