import { type Command, Option } from 'commander'
import { formatPrivateKey, formatPublicKey, type KeyForm, keyForms } from '../../base/crypto/key-forms.js'
import { UserError } from '../../base/errors/rule-error.js'
import type { KeyPair } from '../../clients/wallet/accounts.js'
import type { CliContext } from './cli-context.js'
import { type WalletOptions, withOutput, withWallet } from './command-options.js'
import { shownFile, writeText } from './named-files.js'
import { examples, report } from './print-output.js'
import { publicAccount, signingAccount } from './signing-account.js'

interface ExportOptions extends WalletOptions {
  readonly format: KeyForm
  readonly public?: boolean
  readonly recovery?: boolean
  readonly output?: string
}

/** `didledger wallet export` */
export function registerExport(wallet: Command, context: CliContext): void {
  const format = new Option('--format <form>', 'form of the key; der: base64 of what pem has')
  withWallet(withOutput(wallet.command('export')))
    .description('print the private key of an account for other tools, or with --public its public key')
    .addOption(format.choices(keyForms).default('pem'))
    .option('--public', 'the public key, which needs no password')
    .option('--recovery', 'the second key of the account, #recovery of its DID')
    .option('-o, --output <file>', 'write the key to a file instead; one with a private key is for its owner alone')
    .addHelpText('after', examples('wallet export --public --format jwk', 'wallet export -o key.pem'))
    .action((options: ExportOptions) => exportKey(context, options))
}

async function exportKey(context: CliContext, options: ExportOptions): Promise<void> {
  const { format, output } = options
  const text = await keyText(context, options)
  const member = options.public ? 'publicKey' : 'privateKey'
  const result = { ...named(options), format }
  if (output === undefined) {
    report(context, options, { ...result, [member]: text }, text.trimEnd().split('\n'))
    return
  }
  const words = writeText(context, output, `${text.trimEnd()}\n`, { mode: options.public ? 0o644 : 0o600 })
  const what = options.public ? 'public key' : 'private key; keep the file to yourself'
  report(words, options, { ...result, file: output }, [`Wrote ${shownFile(output)}: the ${what}.`])
}

function named(options: ExportOptions): { readonly account: number; readonly did: string } {
  const { index, did } = publicAccount(options)
  return { account: index, did }
}

async function keyText(context: CliContext, options: ExportOptions): Promise<string> {
  if (options.public && !options.recovery) return formatPublicKey(publicAccount(options).publicKey, options.format)
  const { privateKey, publicKey } = await chosenPair(context, options)
  return options.public ? formatPublicKey(publicKey, options.format) : formatPrivateKey(privateKey, options.format)
}

async function chosenPair(context: CliContext, options: ExportOptions): Promise<KeyPair> {
  const account = await signingAccount(context, options)
  if (!options.recovery) return account
  if (account.recovery !== undefined) return account.recovery
  throw new UserError('this wallet holds imported keys, whose accounts have no second key')
}
