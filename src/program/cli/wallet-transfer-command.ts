import type { Command } from 'commander'
import { NodeClient } from '../../clients/client/node-client.js'
import { UserError } from '../../base/errors/rule-error.js'
import { addressOf, singleKeyCode } from '../../base/primitives/address.js'
import { formatAmount } from '../../base/primitives/amount.js'
import type { Transaction } from '../../base/primitives/transaction.js'
import type { Account } from '../../clients/wallet/accounts.js'
import type { UnsignedTransaction } from '../../clients/wallet/build-transaction.js'
import { parseCoins } from '../../clients/wallet/coins-file.js'
import { readJsonFile } from '../../clients/wallet/files.js'
import { isSigned, signTransaction, unsignedAddresses } from '../../clients/wallet/sign-transaction.js'
import { termsOf } from '../../clients/wallet/terms.js'
import { feeOf, fileOf, type TransactionFile, transactionFileJson } from '../../clients/wallet/transaction-file.js'
import { readTransactionFile } from '../../clients/wallet/transaction-on-disk.js'
import {
  broadcast,
  payment,
  paymentFrom,
  type PricedPayment,
  sendBuilt,
  type Sent,
  sentJson,
  sentRows,
  sentText,
  signAll,
} from './send-transaction.js'
import { rulesAt, rulesOffline } from './chain-rules.js'
import type { CliContext } from './cli-context.js'
import {
  heightOption,
  type OutputOptions,
  recipientOption,
  type SendOptions,
  type WalletOptions,
  withChain,
  withNode,
  withOutput,
  withSending,
  withWallet,
} from './command-options.js'
import { fileWord, shownFile } from './named-files.js'
import { examples, report, sameOptions, shellWord, formatTable } from './print-output.js'
import { listAccounts, publicAccount, signingAccount, signingAccounts } from './signing-account.js'
import {
  builtTransfer,
  recipientsOf,
  requireAmounts,
  requireSendable,
  requireTransfer,
  type TransferOptions,
  withTransfer,
} from './transfer-options.js'
import {
  fileLines,
  missingText,
  nextStep,
  reportFile,
  signaturesJson,
  signedPath,
  transactionRows,
} from './transaction-report.js'

/** Options of commands that write a transfer to a file. */
export interface BuildOptions extends TransferOptions {
  readonly coins?: string
  readonly height?: number
  readonly output: string
}

/** `didledger wallet build | sign | show | send` */
export function registerTransfers(wallet: Command, context: CliContext): void {
  withBuilding(withTransfer(withNode(withChain(withWallet(withOutput(wallet.command('build')))))))
    .description('build a transfer and write it to a file, unsigned')
    .option('--from <address>', 'paying address of the wallet (default: that of the account)', recipientOption)
    .addHelpText(
      'after',
      examples(
        'wallet build --to ENDyipsk2GW4bBAmpRoNBV3GKV55Nxw2RD --amount 2.5 -o payment.json',
        'wallet build --coins utxos.json --to ENDyipsk2GW4bBAmpRoNBV3GKV55Nxw2RD --amount 2.5',
      ),
    )
    .action((options: BuildOptions & { from?: { address: string } }) =>
      buildFile(context, singleKeyCode(payingAccount(options).publicKey), options),
    )
  withWallet(withOutput(wallet.command('sign <file>')))
    .description('sign a transaction file with the keys of a wallet, or with that of --account; needs no node')
    .option(
      '-o, --output <file>',
      'file to write, - for standard output (default: the name of the file with .signed.json)',
    )
    .addHelpText(
      'after',
      `\nOf a multisig address each owner signs in turn, or each a copy; "wallet multisig combine" puts copies together.\n${examples(
        'wallet sign payment.json',
        'wallet sign payment.signed-1.json --wallet bob.json -o payment.signed-2.json',
      )}`,
    )
    .action((file: string, options: WalletOptions & { output?: string }) => signFile(context, file, options))
  withOutput(wallet.command('show <file>'))
    .description('show what a transaction file does')
    .addHelpText('after', examples('wallet show payment.json'))
    .action((file: string, options: OutputOptions) => show(context, file, options))
  withTransfer(withSending(withWallet(withOutput(wallet.command('send [file]')))))
    .description('send a signed file, or build, sign and send a transfer in one step')
    .addHelpText(
      'after',
      examples(
        'wallet send payment.signed.json',
        'wallet send --to ENDyipsk2GW4bBAmpRoNBV3GKV55Nxw2RD --amount 2.5 --devnet-account 0',
      ),
    )
    .action((file: string | undefined, options: TransferOptions & SendOptions) => send(context, file, options))
}

/** Adds the options of a command that writes a transaction to a file. */
export function withBuilding(command: Command): Command {
  return command
    .option('--coins <file>', 'unspent outputs as JSON from asset/utxos or listunspent, instead of asking a node')
    .option('--height <n>', 'height of the chain, known offline: tells which locked coins can be spent', heightOption)
    .option('-o, --output <file>', 'file to write, - for standard output', 'transaction.json')
}

/** Builds a transfer from the address of a program code and writes it to a file. */
export async function buildFile(context: CliContext, code: Uint8Array, options: BuildOptions): Promise<void> {
  requireTransfer(options)
  const client = options.coins === undefined ? new NodeClient(options) : undefined
  const rules = client === undefined ? rulesOffline(options, options.height) : await rulesAt(client, options)
  requireAmounts(rules, options)
  const wanted = await recipientsOf(context, client, options)
  const paid = client === undefined ? offlinePayment() : await paymentFrom(context, client, code, rules, options)
  const built = await builtTransfer(client, paid, wanted, options)
  reportFile(context, options, {
    output: options.output,
    file: fileOf(built),
    said: `Wrote ${shownFile(options.output)}, not signed yet.`,
    next: [
      `Next: npx didledger wallet sign ${fileWord(options.output)}${sameOptions({ ...options, rest: undefined })}`,
    ],
  })

  function offlinePayment(): PricedPayment {
    const terms = termsOf(rules)
    const coins = parseCoins(readJsonFile(options.coins as string, 'coins file'), terms.assetId)
    return payment(context, { code, coins, terms }, options)
  }
}

function payingAccount(options: BuildOptions & { from?: { address: string } }): Account {
  if (options.from === undefined) return publicAccount(options)
  const { address } = options.from
  const account = listAccounts(options).find((candidate) => candidate.address === address)
  if (account === undefined) throw new UserError(`--from ${address} is not an address of this wallet`)
  return account
}

async function signFile(
  context: CliContext,
  path: string,
  options: WalletOptions & { output?: string },
): Promise<void> {
  const unsigned = readTransactionFile(path)
  const accounts = (await signingAccounts(context, options)).filter(
    ({ index }) => options.account === undefined || index === options.account,
  )
  const signed = signTransaction(
    unsigned.transaction,
    accounts.map(({ privateKey }) => privateKey),
  )
  const file = { ...unsigned, transaction: signed.transaction }
  const output = options.output ?? signedPath(path, signed.transaction)
  const said = `Signed for ${signed.signed.join(', ')}; wrote ${shownFile(output)}.`
  reportFile(context, options, {
    output,
    file,
    said,
    next: nextStep(output, file.transaction),
    missing: signed.missing,
  })
}

function show(context: CliContext, path: string, options: OutputOptions): void {
  const file = readTransactionFile(path)
  const { transaction } = file
  const missing = unsignedAddresses(transaction)
  const { hex, ...head } = transactionFileJson(file)
  const json = { ...head, missing, signatures: signaturesJson(transaction), transaction: transaction.toJSON(), hex }
  report(context, options, json, [
    `Transaction ${transaction.txid}`,
    ...fileLines(file),
    isSigned(transaction) ? 'Signed.' : `Still to be signed by ${missingText(transaction)}.`,
  ])
}

async function send(
  context: CliContext,
  path: string | undefined,
  options: TransferOptions & SendOptions,
): Promise<void> {
  if (path !== undefined && options.to !== undefined) {
    throw new UserError('give a signed file, or --to and --amount, not both', 2)
  }
  if (path === undefined && options.to === undefined) {
    throw new UserError('what shall be sent? Give a signed file, or --to ADDRESS --amount COINS', 2)
  }
  const client = new NodeClient(options)
  const sendIt = (transaction: Transaction) => broadcast(context, client, transaction, options)
  const { built: file, sent } =
    path === undefined
      ? await sendBuilt(await transferBuilder(context, client, options), sendIt)
      : await sendSigned(client, path, options, sendIt)
  const fee = feeOf(file)
  const [, ...rows] = transactionRows(file)
  // The sender of a signed file need not have the wallet that signed it.
  const whose = path === undefined ? sameOptions(options) : ` ${payerOf(file)}${sameOptions({ rest: options.rest })}`
  report(context, options, { ...sentJson(sent), ...(fee === undefined ? {} : { fee: formatAmount(fee) }) }, [
    sentText(sent),
    ...formatTable([...sentRows(sent), ...rows]),
    '',
    sent.block === undefined
      ? `Next: npx didledger wallet balance${whose}   (once it is mined)`
      : `Next: npx didledger wallet balance${whose}`,
  ])
}

/** An address whose balance the transaction changes: a payer, or the first recipient if the file names no payer. */
function payerOf({ transaction, spent }: TransactionFile): string {
  const payers = (spent ?? []).map(({ address }) => address)
  const recipients = transaction.outputs.map(({ programHash }) => addressOf(programHash))
  return [...payers, ...recipients][0] as string
}

/** Sends a signed file, on the chain that the options name. */
async function sendSigned(
  client: NodeClient,
  path: string,
  options: TransferOptions,
  send: (transaction: Transaction) => Promise<Sent>,
): Promise<{ readonly built: TransactionFile; readonly sent: Sent }> {
  const built = signedFile(path)
  // Nothing is built of a file: only a chain that is named can be the wrong one.
  if (options.genesis !== undefined) await rulesAt(client, options)
  return { built, sent: await send(built.transaction) }
}

/** A function that builds and signs the transfer that the options name; it asks for a password once. */
async function transferBuilder(
  context: CliContext,
  client: NodeClient,
  options: TransferOptions,
): Promise<() => Promise<TransactionFile>> {
  requireTransfer(options)
  const code = singleKeyCode(publicAccount(options).publicKey)
  const rules = await rulesAt(client, options)
  requireAmounts(rules, options)
  requireSendable(rules, options)
  const recipients = await recipientsOf(context, client, options)
  const build = async () =>
    builtTransfer(client, await paymentFrom(context, client, code, rules, options), recipients, options)
  // What cannot be paid is refused before a password is asked for.
  let first: UnsignedTransaction | undefined = await build()
  const { privateKey } = await signingAccount(context, options)
  return async () => {
    const built = first ?? (await build())
    first = undefined
    return { ...fileOf(built), transaction: signAll(built, privateKey) }
  }
}

function signedFile(path: string): TransactionFile {
  const file = readTransactionFile(path)
  if (!isSigned(file.transaction)) {
    throw new UserError(
      `${path} is not signed yet by ${missingText(file.transaction)}; run: npx didledger wallet sign ${shellWord(path)}`,
    )
  }
  return file
}
