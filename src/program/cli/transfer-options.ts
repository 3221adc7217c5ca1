import { type Command, InvalidArgumentError } from 'commander'
import { UserError } from '../../base/errors/rule-error.js'
import { addressFromPublicKey, addressOf, parseAddress, type ProgramHash } from '../../base/primitives/address.js'
import { formatAmount } from '../../base/primitives/amount.js'
import { defined } from '../../base/primitives/defined.js'
import type { NodeClient } from '../../clients/client/node-client.js'
import {
  buildTransfer,
  payerOf,
  type Recipient,
  type UnsignedTransaction,
} from '../../clients/wallet/build-transaction.js'
import { FewCoinsError, ManyCoinsError } from '../../clients/wallet/coins.js'
import type { DidKey } from '../../identity/did/model.js'
import { devnetAccount, devnetAccountCount } from '../../clients/wallet/devnet-accounts.js'
import { isThere } from '../../clients/wallet/files.js'
import { buildWithin } from '../../clients/wallet/pending-coins.js'
import type { ChainRules } from '../../clients/wallet/terms.js'
import { labelledAddress } from './address-labels.js'
import type { CliContext } from './cli-context.js'
import {
  amountOption,
  collect,
  defaultWalletFile,
  didArgument,
  heightOption,
  rateOption,
  recipientOption,
  requireWithinSupply,
  type RestFlags,
  type SpecFlags,
  type WalletOptions,
} from './command-options.js'
import { currentIdentity } from './current-identity.js'
import { linesText, sameOptions } from './print-output.js'
import { listAccounts } from './signing-account.js'
import { type FeeWish, type PricedPayment, requireEnough } from './send-transaction.js'

/** Options of commands that build a transfer: recipients, amounts, fee and locks. */

export interface TransferOptions extends WalletOptions, SpecFlags, RestFlags, FeeWish {
  readonly to?: Payable[]
  readonly amount?: (bigint | 'all')[]
  readonly feeFromAmount?: boolean
  readonly outputLock?: number
  readonly lockTime?: number
}

/** An address, or a DID or a label whose address is still to be found. */
type Payable =
  | { readonly address: string; readonly programHash: ProgramHash }
  | { readonly did: string }
  | { readonly label: string }

export function withTransfer(command: Command): Command {
  return withFee(command)
    .option(
      '--to <address>',
      'receiving address, a DID, or a label of the wallet; may be given several times',
      collect(payableOption),
    )
    .option('--amount <coins>', 'amount for the --to of the same position; "all": all that is left', collect(sumOption))
    .option('--fee-from-amount', 'take the fee out of the first amount')
    .option('--output-lock <height>', 'the recipients cannot spend before this height', heightOption)
    .option('--lock-time <height>', 'the transaction cannot be mined up to this height', heightOption)
}

/** Adds the options for the fee of a transfer. */
export function withFee(command: Command): Command {
  return command
    .option('--fee <coins>', 'fee (default: the least that the node takes)', amountOption)
    .option('--fee-rate <sela>', 'fee by the price of a byte, in 10^-8 coins (default: what the node asks)', rateOption)
}

function payableOption(given: string): Payable {
  const text = given.trim()
  if (/^did(:|%3a)/i.test(text)) return { did: didArgument(text) }
  return parseAddress(text) === undefined ? { label: given } : recipientOption(text)
}

function sumOption(text: string): bigint | 'all' {
  if (text === 'all') return text
  try {
    return amountOption(text)
  } catch (error) {
    const isWord = error instanceof InvalidArgumentError && /^[a-z]+$/i.test(text)
    throw isWord ? new InvalidArgumentError('Not an amount of coins such as 1 or 0.25, nor "all".') : error
  }
}

/** Refuses options that are no transfer, before a node is asked. */
export function requireTransfer(options: TransferOptions): void {
  const { to = [], amount = [], fee, feeRate, feeFromAmount } = options
  if (to.length === 0) throw new UserError('--to ADDRESS and --amount COINS say where how much goes', 2)
  if (to.length !== amount.length) {
    throw new UserError(`${to.length} times --to, but ${amount.length} times --amount: each --to needs one`, 2)
  }
  if (amount.includes(0n)) throw new UserError('--amount 0: an amount must be above zero', 2)
  const all = amount.filter((value) => value === 'all').length
  if (all > 1) throw new UserError('--amount all can stand once: all that is left goes to one address', 2)
  if (all > 0 && feeFromAmount) throw new UserError('--amount all pays the fee already: leave out --fee-from-amount', 2)
  requireOneFee({ fee, feeRate })
  for (const payable of to) if ('label' in payable) labelledAddress(options, payable.label)
}

export function requireOneFee({ fee, feeRate }: FeeWish): void {
  if (fee !== undefined && feeRate !== undefined) throw new UserError('--fee or --fee-rate, not both', 2)
}

/** Refuses a lock time that keeps a transfer from being sent now; a file of one can wait. */
export function requireSendable({ height = Infinity }: ChainRules, { lockTime = 0 }: TransferOptions): void {
  if (lockTime <= height) return
  throw new UserError(
    `--lock-time ${lockTime}: it can be sent from height ${lockTime} on, and the chain is at ${height}; "wallet build" and "wallet sign" make a file that "wallet send" sends then`,
    2,
  )
}

/** Throws a {@link UserError} with exit code 2 for an amount or a fee that the chain cannot hold. */
export function requireAmounts(rules: ChainRules, { amount = [], fee }: TransferOptions): void {
  if (fee !== undefined) requireWithinSupply('--fee', fee, rules)
  for (const value of amount) if (value !== 'all') requireWithinSupply('--amount', value, rules)
}

/**
 * The recipients that the options name; a DID is paid at the address of its default key, which is told before, as is the address of a
 * label.
 */
export async function recipientsOf(
  context: CliContext,
  client: NodeClient | undefined,
  options: TransferOptions,
): Promise<Recipient[]> {
  const { to = [], amount = [], outputLock } = options
  const found: Recipient[] = []
  for (const [i, payable] of to.entries()) {
    const programHash = await programHashOf(payable)
    found.push({ programHash, value: amount[i] as bigint | 'all', ...defined({ outputLock }) })
  }
  return found

  async function programHashOf(payable: Payable): Promise<ProgramHash> {
    if ('did' in payable) return payeeOf(context, client, payable.did)
    if ('programHash' in payable) return payable.programHash
    const address = labelledAddress(options, payable.label)
    context.err(linesText([`${payable.label} is the label of ${address}`]))
    return recipientOption(address).programHash
  }
}

async function payeeOf(context: CliContext, client: NodeClient | undefined, did: string): Promise<ProgramHash> {
  if (client === undefined) {
    throw new UserError(`the address of ${did} is found by asking a node: leave out --coins, or give the address`, 2)
  }
  const { identity } = await currentIdentity(client, did)
  const { publicKey } = identity.document.defaultKey as DidKey
  const address = addressFromPublicKey(publicKey)
  context.err(linesText([`${did} is paid at the address of its key, ${address}`]))
  return parseAddress(address) as ProgramHash
}

/**
 * Builds a transfer, whose fee is enough. The refusal of too many coins names the command that joins them, that of too few the account and
 * those that have coins, as far as a node can be asked.
 */
export async function builtTransfer(
  client: NodeClient | undefined,
  paid: PricedPayment,
  recipients: readonly Recipient[],
  options: TransferOptions,
): Promise<UnsignedTransaction> {
  const { lockTime, feeFromAmount } = options
  try {
    const payment = { ...paid, ...defined({ lockTime, feeFromAmount }) }
    const built = buildWithin(payment, paid.bounds?.ancestors, (within) => buildTransfer(within, recipients))
    requireEnough(built, paid)
    return built
  } catch (error) {
    if (error instanceof ManyCoinsError) {
      throw new UserError(`${error.message}: npx didledger wallet merge${sameOptions(options)}`)
    }
    if (error instanceof FewCoinsError)
      throw new UserError(`${error.message}; ${await whoseCoins(client, paid, options)}`)
    throw error
  }
}

/** Accounts of a wallet whose coins are looked for. */
const accountsAsked = 20

/** A sentence on the account that pays, and on others of the same wallet that have coins. */
async function whoseCoins(
  client: NodeClient | undefined,
  { code }: PricedPayment,
  { wallet, devnetAccount: number }: WalletOptions,
): Promise<string> {
  const payer = addressOf(payerOf(code))
  const accounts =
    number === undefined
      ? isThere(wallet ?? defaultWalletFile, 'keystore')
        ? listAccounts(defined({ wallet }))
        : []
      : Array.from({ length: devnetAccountCount }, (_, index) => devnetAccount(index))
  const own = accounts.find(({ address }) => address === payer)
  if (own === undefined) return `that is ${payer}`
  if (client === undefined) return `that is account ${own.index}, ${payer}`
  const others = accounts.filter((account) => account !== own).slice(0, accountsAsked)
  const balances = await Promise.all(others.map(({ address }) => client.balance(address)))
  const rich = others.flatMap(({ index }, i) => {
    const balance = balances[i] ?? 0n
    return balance > 0n ? [`${index} (${formatAmount(balance)})`] : []
  })
  const elsewhere = rich.length === 0 ? '' : `; coins are in account ${rich.join(', ')}`
  return `that is account ${own.index}, ${payer}${elsewhere}`
}
