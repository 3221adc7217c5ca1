import { type Command, InvalidArgumentError } from 'commander'
import { UserError } from '../../base/errors/rule-error.js'
import { singleKeyCode } from '../../base/primitives/address.js'
import { formatAmount } from '../../base/primitives/amount.js'
import { equalBytes, parseDisplayHash } from '../../base/primitives/bytes.js'
import { defined } from '../../base/primitives/defined.js'
import type { Transaction } from '../../base/primitives/transaction.js'
import { NodeRefusal } from '../../clients/client/http.js'
import { NodeClient } from '../../clients/client/node-client.js'
import type { Account } from '../../clients/wallet/accounts.js'
import { buildReplacement } from '../../clients/wallet/build-replacement.js'
import type { UnsignedTransaction } from '../../clients/wallet/build-transaction.js'
import { feeOf, fileOf } from '../../clients/wallet/transaction-file.js'
import { rulesAt } from './chain-rules.js'
import type { CliContext } from './cli-context.js'
import {
  requireWithinSupply,
  type SendOptions,
  type WalletOptions,
  withOutput,
  withSending,
  withWallet,
} from './command-options.js'
import { examples, formatTable, linesText, report, sameOptions } from './print-output.js'
import {
  broadcast,
  type FeeWish,
  paymentFrom,
  type Sent,
  sentJson,
  sentRows,
  sentText,
  signAll,
} from './send-transaction.js'
import { listAccounts, signingAccount } from './signing-account.js'
import { transactionRows } from './transaction-report.js'
import { requireOneFee, withFee } from './transfer-options.js'

/** `didledger wallet bump | cancel`: replace a transaction that waits for a block. */

interface ReplaceOptions extends WalletOptions, SendOptions, FeeWish {}

export function registerReplacements(wallet: Command, context: CliContext): void {
  withFee(withSending(withWallet(withOutput(wallet.command('bump')))))
    .description('send a transaction that waits for a block once more, with a higher fee')
    .argument('<txid>', 'id of the transaction', txidArgument)
    .addHelpText('after', `\n${paidFrom}\n${examples(`wallet bump ${sample}`, `wallet bump ${sample} --fee-rate 5`)}`)
    .action((txid: string, options: ReplaceOptions) => replace(context, txid, options, {}))
  withFee(withSending(withWallet(withOutput(wallet.command('cancel')))))
    .description('take a transaction that waits for a block back: its coins go to their account')
    .argument('<txid>', 'id of the transaction', txidArgument)
    .addHelpText('after', examples(`wallet cancel ${sample}`))
    .action((txid: string, options: ReplaceOptions) => replace(context, txid, options, { cancel: true }))
}

const sample = '709b3b68beb145f2fb165ff8009edcdf87705a773eaf59bc34ee98804433396e'
const paidFrom = `The fee is taken out of the change; where that does not suffice, further coins of the account are spent.`

function txidArgument(text: string): string {
  const txid = text.trim().toLowerCase().replace(/^0x/, '')
  if (parseDisplayHash(txid) !== undefined) return txid
  throw new InvalidArgumentError('Not the id of a transaction (64 hex digits).')
}

async function replace(
  context: CliContext,
  txid: string,
  options: ReplaceOptions,
  what: { readonly cancel?: true },
): Promise<void> {
  requireOneFee(options)
  const { fee, feeRate } = options
  const client = new NodeClient(options)
  const rules = await rulesAt(client, options)
  if (fee !== undefined) requireWithinSupply('--fee', fee, rules)
  const waiting = await client.waitingTransaction(txid, rules.assetId)
  const account = payerAmong(waiting.transaction, options)
  await refuseBuiltUpon(client, txid)
  const paid = await paymentFrom(context, client, singleKeyCode(account.publicKey), rules, options)
  const built = buildReplacement({ ...paid, fee: paid.prices }, waiting, { ...what, ...defined({ fee, feeRate }) })
  const before = feeOf(fileOf({ ...built, ...waiting })) as bigint
  const named = options.devnetAccount === undefined ? { ...options, account: account.index } : options
  const { privateKey } = await signingAccount(context, named)
  const transaction = signAll(built, privateKey)
  if (!options.json) context.err(linesText([sentence(txid, before, built, what)]))
  const sent = await broadcast(context, client, transaction, { ...options, replace: true }).catch((error: unknown) =>
    minedMeanwhile(client, txid, error),
  )
  reportReplacement(context, options, { txid, before, built, sent })
}

/** The account of a wallet that alone pays for a transaction. */
function payerAmong({ txid, programs }: Transaction, options: WalletOptions): Account {
  const accounts = listAccounts(options).filter(
    ({ index }) => options.account === undefined || options.account === index,
  )
  const [program, ...others] = programs
  const payer = accounts.find(({ publicKey }) => program && equalBytes(program.code, singleKeyCode(publicKey)))
  if (payer !== undefined && others.length === 0) return payer
  const [first] = accounts
  const whose = accounts.length === 1 ? first?.address : 'an account of this wallet'
  throw new UserError(`${txid} is not paid by ${whose} alone: its payer can replace it`)
}

async function refuseBuiltUpon(client: NodeClient, txid: string): Promise<void> {
  const [child, ...others] = await client.childrenOf(txid)
  if (child === undefined) return
  const more = others.length === 0 ? '' : `, and ${others.length} more`
  throw new UserError(
    `others have built upon ${txid}, so that it stays as it is: ${child} spends an output of it${more}. ` +
      'A child with a high fee speeds up both',
  )
}

function sentence(
  txid: string,
  before: bigint,
  { fee }: UnsignedTransaction,
  { cancel }: { readonly cancel?: true },
): string {
  const price = `the fee is ${formatAmount(fee)} instead of ${formatAmount(before)}`
  return cancel ? `taking ${txid} back: ${price}` : `sending the same as ${txid} once more: ${price}`
}

/** Fails with what is to be known where a block was faster. */
async function minedMeanwhile(client: NodeClient, txid: string, error: unknown): Promise<never> {
  const mined = error instanceof NodeRefusal ? await client.transaction(txid).catch(() => undefined) : undefined
  if (mined === undefined || mined.blockhash === '') throw error
  throw new UserError(
    `${txid} was mined before it could be replaced, in block ${mined.blockhash}: nothing else was sent`,
  )
}

function reportReplacement(
  context: CliContext,
  options: ReplaceOptions,
  { txid, before, built, sent }: { txid: string; before: bigint; built: UnsignedTransaction; sent: Sent },
): void {
  const fees = { fee: formatAmount(built.fee), feeBefore: formatAmount(before) }
  const [, ...rows] = transactionRows(fileOf(built))
  report(context, options, { ...sentJson(sent), replaces: txid, ...fees }, [
    sentText(sent),
    ...formatTable([...sentRows(sent), ['replaces', txid], ...rows]),
    '',
    `Next: npx didledger wallet balance${sameOptions(options)}${sent.block === undefined ? '   (once it is mined)' : ''}`,
  ])
}
