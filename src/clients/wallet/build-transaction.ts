/**
 * Builds transactions offline from coins that are given; the room holds keys and keystores too, and signs.
 *
 *   Payment (code, coins, fee, terms) + recipients -> buildTransfer       version 9
 *                                     + operation  -> buildDidTransaction version 0; operation by did-identity.ts
 *     -> build -> selectCoins (coins.ts) -> change -> requireFit -> UnsignedTransaction
 *     -> signTransaction, multisig-signatures -> bytes for the client, the pool or a transaction file
 *
 * Imports crypto, did, errors, primitives, runtime; used by client, devnet, api, library, cli.
 * - Uses no network and reads no chain: coins, height and rates come from the caller.
 * - Change goes back to the paying address: inputs = outputs + fee.
 * - A spent coin with a lock sets lockTime and sequence, as the rules require.
 */
import { brokenRule } from '../../base/errors/broken-rule.js'
import { RuleError, UserError } from '../../base/errors/rule-error.js'
import type { ProgramHash } from '../../base/primitives/address.js'
import { formatAmount } from '../../base/primitives/amount.js'
import { fromUtf8, littleEndianInteger } from '../../base/primitives/bytes.js'
import { type DidOperation, isAboutCredential } from '../../base/primitives/did-operation.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Output } from '../../base/primitives/output.js'
import { type Payload, txType } from '../../base/primitives/payload.js'
import { parseCode, programHashOf } from '../../base/primitives/program.js'
import { finalSequence, lockSequence } from '../../base/primitives/input.js'
import { attributeUsage, Transaction } from '../../base/primitives/transaction.js'
import type { TransactionFields } from '../../base/primitives/transaction-fields.js'
import type { Random } from '../../base/runtime/env.js'
import { type ChainContext, type SpendableCoin, selectCoins } from './coins.js'
import { feeFunction, type Prices } from './fee.js'

/** The payer's and the chain's part of any transaction. */
export interface Payment extends ChainContext {
  /** Program code of the paying address: standard, DID script or multisig. Change goes back to that address. */
  readonly code: Uint8Array
  /** Unspent outputs of the paying address. */
  readonly coins: readonly SpendableCoin[]
  /** In units of 10^-8, or prices: then the fee is the least by them. */
  readonly fee: bigint | Prices
  /** The native asset's id, internal order. */
  readonly assetId: Hash
  /** Bound of every amount and sum. */
  readonly maxMoney: bigint
  /** Source of the nonce. */
  readonly random: Random
  /** The transaction cannot be mined at or below this height; 0 or absent is no such limit. */
  readonly lockTime?: number
}

/** A payee of a transfer. */
export interface Recipient {
  readonly programHash: ProgramHash
  /** In units of 10^-8. */
  readonly value: bigint
  /** Height below which the recipient cannot spend the output; 0 or absent is no lock. */
  readonly outputLock?: number
}

/** A transaction with an empty program parameter, and the coins that it spends. */
export interface UnsignedTransaction {
  readonly transaction: Transaction
  readonly spent: readonly SpendableCoin[]
  readonly fee: bigint
  readonly change: bigint
}

/** A transfer in version 9 form, as the family's command-line wallet builds it. */
export function buildTransfer(payment: Payment, recipients: readonly Recipient[]): UnsignedTransaction {
  if (recipients.length === 0) throw new UserError('a transfer needs at least one recipient')
  for (const { value } of recipients) {
    if (value <= 0n) throw new UserError(`an amount of ${formatAmount(value)}: it must be above zero`)
  }
  return build(payment, 9, { type: txType.transfer }, recipients)
}

/**
 * A transaction with a DID operation, in version 0 form, the only one of this type. Its first output, of value 0, marks the DID's
 * own address. Without `did` it pays 0 to the payer: a transaction needs an output. `newLeaf`: whether the operation adds a leaf to
 * the map of committed state, as one on a credential does unless its DID declared that before.
 */
export function buildDidTransaction(
  payment: Payment,
  operation: DidOperation,
  did: ProgramHash | undefined,
  newLeaf: boolean = isAboutCredential(operation),
): UnsignedTransaction {
  const marker = { programHash: did ?? payerOf(payment.code), value: 0n }
  return build(payment, 0, { type: txType.did, operation }, [marker], newLeaf)
}

function build(
  payment: Payment,
  version: 0 | 9,
  payload: Payload,
  recipients: readonly Recipient[],
  newLeaf = false,
): UnsignedTransaction {
  const output = ({ programHash, value, outputLock = 0 }: Recipient): Output => ({
    assetId: payment.assetId,
    value,
    outputLock,
    programHash,
    ...(version === 9 ? { extra: { type: 0, payload: new Uint8Array(0) } } : {}),
  })
  const amount = recipients.reduce((sum, { value }) => sum + value, 0n)
  const fixedFee = typeof payment.fee === 'bigint' ? payment.fee : 0n
  if (amount + fixedFee > payment.maxMoney) {
    throw new UserError(
      `${formatAmount(amount + fixedFee)} is more than the supply of ${formatAmount(payment.maxMoney)}`,
    )
  }
  const lockTime = payment.lockTime ?? 0
  const fields: TransactionFields = {
    version,
    payloadVersion: 0,
    payload,
    attributes: [{ usage: attributeUsage.nonce, data: fromUtf8(nonceText(payment.random)) }],
    inputs: [],
    outputs: recipients.map(output),
    lockTime: 0,
    programs: [{ code: payment.code, parameter: new Uint8Array(0) }],
  }
  const { fee } = payment
  const feeOf = typeof fee === 'bigint' ? () => fee : feeFunction(fields, fee, newLeaf)
  const selection = selectCoins({ ...payment, amount, feeOf })
  const change: Recipient = { programHash: payerOf(payment.code), value: selection.change }
  const transaction = new Transaction({
    ...fields,
    inputs: selection.coins.map(({ txid, index, outputLock }) => ({
      txid,
      index,
      // A lockTime is enforced only if a sequence is not final.
      sequence: outputLock || lockTime > 0 ? lockSequence : finalSequence,
    })),
    outputs: selection.change > 0n ? [...fields.outputs, output(change)] : fields.outputs,
    lockTime: Math.max(lockTime, ...selection.coins.map(({ outputLock = 0 }) => outputLock)),
  })
  requireFit(transaction)
  return { transaction, spent: selection.coins, fee: selection.fee, change: selection.change }
}

/** The family's form of a nonce: a random integer below 2^63 in decimal digits. */
function nonceText(random: Random): string {
  const bytes = random.bytes(8)
  return (littleEndianInteger(bytes) >> 1n).toString()
}

/** The program hash that a code unlocks; a {@link UserError} for a code that is no accepted program. */
export function payerOf(code: Uint8Array): ProgramHash {
  const script = parseCode(code)
  if (script === undefined) throw new UserError('the paying program is neither standard, nor DID script, nor multisig')
  return programHashOf(code, script)
}

/** Checks two rules that a transaction can break by size alone. */
function requireFit(transaction: Transaction): void {
  if (transaction.inputs.length > 0xffff || transaction.outputs.length > 0xffff) {
    throw new RuleError('tx-output-count', 'more than 65535 inputs or outputs; send in several transactions')
  }
  if (transaction.unsignedSize === 64) throw brokenRule('tx-ambiguous-size')
}
