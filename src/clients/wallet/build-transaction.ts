/**
 * Builds transactions offline from coins that are given; the room holds keys and keystores too, and signs.
 *
 *   Payment (code, coins, fee, terms) + recipients -> buildTransfer       version 9
 *                                     + operation  -> buildDidTransaction version 0; operation by did-identity.ts
 *     -> build -> fund -> selectCoins, selectAll, selectWithFee (coins.ts) -> change -> UnsignedTransaction
 *   Payment                             -> buildMerge          one transfer to the payer for each group of coins
 *   a transaction that waits            -> buildReplacement    the same for a higher fee, or all back to the payer
 *     -> signTransaction, multisig-signatures -> bytes for the client, the pool or a transaction file
 *
 * Imports crypto, credentials, did, errors, primitives, runtime; used by client, registrar, watch, devnet, api, node, library, cli, explorer.
 * - Uses no network and reads no chain: coins, height and rates come from the caller.
 * - Change goes back to the paying address: inputs = outputs + fee.
 * - A spent coin with a lock sets lockTime and sequence, as the rules require.
 */
import { brokenPageRule } from '../../base/errors/broken-rule.js'
import { UserError } from '../../base/errors/rule-error.js'
import { prefix, type ProgramHash } from '../../base/primitives/address.js'
import { formatAmount } from '../../base/primitives/amount.js'
import { fromUtf8, littleEndianInteger } from '../../base/primitives/bytes.js'
import { type DidOperation, isAboutCredential } from '../../base/primitives/did-operation.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Output } from '../../base/primitives/output.js'
import { type Payload, txType } from '../../base/primitives/payload.js'
import { parseCode, programHashOf } from '../../base/primitives/program.js'
import { finalSequence, lockSequence } from '../../base/primitives/input.js'
import { attributeUsage, Transaction } from '../../base/primitives/transaction.js'
import { type TransactionBounds, transactionBounds } from '../../base/primitives/transaction-bounds.js'
import type { Input, TransactionFields } from '../../base/primitives/transaction-fields.js'
import type { Random } from '../../base/runtime/env.js'
import {
  type ChainContext,
  type CoinSelection,
  coinsToMerge,
  selectAll,
  selectCoins,
  type SelectionRequest,
  selectWithFee,
  type SpendableCoin,
} from './coins.js'
import { addedBy, feeFunction, mostInputs, type Prices, sizeFunction } from './fee.js'
import { requireMarker, requirePayment, requireRecipients } from './payment-forms.js'

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
  /** Whether the fee is taken out of the first amount of a transfer, and not paid beside it. */
  readonly feeFromAmount?: boolean
  /** Bounds to which the transaction keeps; absent: those of this program's pools. */
  readonly bounds?: Pick<TransactionBounds, 'inputs' | 'size'>
}

/** A payee of a transfer. */
export interface Recipient {
  readonly programHash: ProgramHash
  /** In units of 10^-8; `all`: what the payer has beside the other amounts and the fee, for one recipient at most. */
  readonly value: bigint | 'all'
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
  requirePayment(payment)
  requireRecipients(recipients)
  if (recipients.length === 0) throw new UserError('a transfer needs at least one recipient')
  if (recipients.filter(({ value }) => value === 'all').length > 1)
    throw new UserError('only one recipient can have all')
  for (const { value } of recipients) {
    if (value !== 'all' && value <= 0n)
      throw new UserError(`an amount of ${formatAmount(value)}: it must be above zero`)
  }
  return build(payment, 9, { type: txType.transfer }, recipients)
}

/**
 * Transfers to the payer that join its confirmed coins, each as many as one transaction spends; a {@link UserError} if fewer than two
 * coins can be joined.
 */
export function buildMerge(payment: Payment): UnsignedTransaction[] {
  const merges = mergesOf(payment)
  if (merges.length === 0) throw new UserError('there is nothing to join: fewer than two coins can be spent')
  return merges
}

/** The transfers of {@link buildMerge}; none where there is nothing to join. */
export function mergesOf(payment: Payment): UnsignedTransaction[] {
  requirePayment(payment)
  const payer = { programHash: payerOf(payment.code), value: 'all' } as const
  const fields = emptyFields(payment, 9, { type: txType.transfer }, [outputOf(payment, 9, { ...payer, value: 0n })])
  const groups = coinsToMerge(requestOf(payment, fields, false))
  return groups.map((coins) => buildTransfer({ ...payment, coins }, [payer]))
}

/**
 * A transaction with a DID operation, in version 0 form, the only one of this type. Its first output, of value 0, marks the address of
 * a DID with a key. Without one it pays 0 to the payer: a transaction needs an output. `newLeaf`: whether the operation adds a leaf to
 * the map of committed state, as one on a credential does unless its DID declared that before.
 */
export function buildDidTransaction(
  payment: Payment,
  operation: DidOperation,
  did: ProgramHash | undefined,
  newLeaf: boolean = isAboutCredential(operation),
): UnsignedTransaction {
  requirePayment(payment)
  requireMarker(did)
  const programHash = did?.[0] === prefix.did ? did : payerOf(payment.code)
  const marker = { programHash, value: 0n }
  return build(payment, 0, { type: txType.did, operation }, [marker], newLeaf)
}

function build(
  payment: Payment,
  version: 0 | 9,
  payload: Payload,
  recipients: readonly Recipient[],
  newLeaf = false,
): UnsignedTransaction {
  const output = (recipient: Payee) => outputOf(payment, version, recipient)
  // Their values change no size.
  const fields = emptyFields(
    payment,
    version,
    payload,
    recipients.map((recipient) => output({ ...recipient, value: 0n })),
  )
  const { coins, fee, change, payees } = fund(payment, recipients, requestOf(payment, fields, newLeaf))
  const lockTime = payment.lockTime ?? 0
  return finished(
    payment,
    { ...fields, outputs: payees.map(output) },
    {
      inputs: coins.map((coin) => inputOf(coin, lockTime)),
      lockTime: Math.max(lockTime, ...coins.map(({ outputLock = 0 }) => outputLock)),
      spent: coins,
      fee,
      change,
    },
  )
}

/** The input that spends a coin in a transaction with a lockTime. */
export function inputOf({ txid, index, outputLock }: SpendableCoin, lockTime: number): Input {
  // A lockTime is enforced only if a sequence is not final.
  return { txid, index, sequence: outputLock || lockTime > 0 ? lockSequence : finalSequence }
}

/** A transaction with the inputs that were chosen for it, and an output for the change if there is any. */
export function finished(
  payment: Pick<Payment, 'assetId' | 'code'>,
  fields: TransactionFields,
  {
    inputs,
    lockTime,
    ...built
  }: Omit<UnsignedTransaction, 'transaction'> & Pick<TransactionFields, 'inputs' | 'lockTime'>,
): UnsignedTransaction {
  const payer = { programHash: payerOf(payment.code), value: built.change }
  const change = built.change > 0n ? [outputOf(payment, fields.version === 9 ? 9 : 0, payer)] : []
  const transaction = new Transaction({ ...fields, inputs, lockTime, outputs: [...fields.outputs, ...change] })
  if (transaction.unsignedSize === 64) throw brokenPageRule('tx-ambiguous-size')
  return { transaction, ...built }
}

/** A recipient of a known amount. */
export type Payee = Recipient & { readonly value: bigint }

function outputOf(
  { assetId }: Pick<Payment, 'assetId'>,
  version: 0 | 9,
  { programHash, value, outputLock = 0 }: Payee,
): Output {
  const extra = version === 9 ? { extra: { type: 0, payload: new Uint8Array(0) } } : {}
  return { assetId, value, outputLock, programHash, ...extra }
}

/** A transaction without inputs. */
export function emptyFields(
  { code, random }: Pick<Payment, 'code' | 'random'>,
  version: 0 | 9,
  payload: Payload,
  outputs: readonly Output[],
): TransactionFields {
  return {
    version,
    payloadVersion: 0,
    payload,
    attributes: [{ usage: attributeUsage.nonce, data: fromUtf8(nonceText(random)) }],
    inputs: [],
    outputs,
    lockTime: 0,
    programs: [{ code, parameter: new Uint8Array(0) }],
  }
}

/** The choice of coins for a transaction, but for its amount. */
function requestOf(payment: Payment, fields: TransactionFields, newLeaf: boolean): Omit<SelectionRequest, 'amount'> {
  const { fee, bounds = transactionBounds } = payment
  const sizeOf = sizeFunction(fields)
  const most = mostInputs(sizeOf, bounds)
  if (most < 1) {
    const { signedSize } = sizeOf(1, true)
    throw new UserError(
      `the transaction would have ${signedSize} bytes, and pools take at most ${bounds.size}: send in several transactions`,
    )
  }
  return {
    ...payment,
    feeOf: typeof fee === 'bigint' ? () => fee : feeFunction(sizeOf, fee, addedBy(fields.payload, newLeaf)),
    most,
  }
}

/** Coins for a transaction, and what each recipient gets. */
interface Funding extends CoinSelection {
  readonly payees: readonly Payee[]
}

function fund(payment: Payment, recipients: readonly Recipient[], request: Omit<SelectionRequest, 'amount'>): Funding {
  const amount = recipients.reduce((sum, { value }) => (value === 'all' ? sum : sum + value), 0n)
  requireWithinSupply(payment, amount)
  const payees = (rest: bigint) =>
    recipients.map((payee) => ({ ...payee, value: payee.value === 'all' ? rest : payee.value }))
  if (recipients.some(({ value }) => value === 'all')) {
    const { rest, ...selection } = selectAll({ ...request, amount })
    return { ...selection, change: 0n, payees: payees(rest) }
  }
  if (!payment.feeFromAmount) return { ...selectCoins({ ...request, amount }), payees: payees(0n) }
  const { paid, ...selection } = selectWithFee({ ...request, amount })
  const [first, ...others] = payees(0n) as [Payee, ...Payee[]]
  const value = first.value - (amount - paid)
  if (value > 0n) return { ...selection, payees: [{ ...first, value }, ...others] }
  throw new UserError(
    `the fee of ${formatAmount(selection.fee)} leaves nothing of the first amount, ${formatAmount(first.value)}`,
  )
}

function requireWithinSupply({ fee, maxMoney }: Payment, amount: bigint): void {
  const sum = amount + (typeof fee === 'bigint' ? fee : 0n)
  if (sum <= maxMoney) return
  throw new UserError(`${formatAmount(sum)} is more than the supply of ${formatAmount(maxMoney)}`)
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
