import { existsSync, rmSync } from 'node:fs'
import type { Command } from 'commander'
import { generateMnemonic, isMnemonic, mnemonicFault, plainMnemonic } from '../../base/crypto/hd.js'
import { readPrivateKey } from '../../base/crypto/key-forms.js'
import { UserError } from '../../base/errors/rule-error.js'
import { toHex } from '../../base/primitives/bytes.js'
import { defined } from '../../base/primitives/defined.js'
import type { Account, WalletSecret } from '../../clients/wallet/accounts.js'
import { withFileLock } from '../../clients/wallet/file-lock.js'
import { fileReason, readKeyFile } from '../../clients/wallet/files.js'
import { createKeystore, keystoreAccounts, readKeystore, writeKeystore } from '../../clients/wallet/keystore.js'
import { isKeystoreDat, readKeystoreDat } from '../../clients/wallet/keystore-dat.js'
import { labelsOf } from './address-labels.js'
import type { CliContext } from './cli-context.js'
import {
  defaultWalletFile,
  type OutputOptions,
  passwordFileOption,
  type WalletOptions,
  withOutput,
  withWallet,
} from './command-options.js'
import { examples, report, reportOnce, sameOptions, formatTable } from './print-output.js'
import { listAccounts, openWalletFile, readPassword, unlock } from './signing-account.js'
import { registerExport } from './wallet-export-command.js'
import { registerHistory } from './wallet-history-command.js'
import { registerLabels } from './wallet-label-command.js'
import { registerMerge } from './wallet-merge-command.js'
import { registerMultisig } from './wallet-multisig-command.js'
import { registerReplacements } from './wallet-replace-command.js'
import { registerTransfers } from './wallet-transfer-command.js'

interface CreateOptions extends OutputOptions {
  readonly wallet: string
  readonly passwordFile?: string
  readonly words: number
}

interface ImportOptions extends Omit<CreateOptions, 'words'> {
  readonly sourcePasswordFile?: string
}

/** `didledger wallet …` */
export function registerWallet(program: Command, context: CliContext): void {
  const wallet = program.command('wallet').description('keys, balances and transfers')
  withOutput(wallet.command('create'))
    .description('make a keystore with a new mnemonic')
    .option('--wallet <file>', 'keystore file to write', defaultWalletFile)
    .option('--words <n>', 'words of the mnemonic: 12 or 24', wordsOption, 12)
    .addOption(passwordFileOption())
    .addHelpText('after', examples('wallet create --wallet alice.json'))
    .action((options: CreateOptions) => create(context, options))
  withOutput(wallet.command('import [file]'))
    .description('make a keystore from a mnemonic, a private key, or a keystore.dat')
    .option('--wallet <file>', 'keystore file to write', defaultWalletFile)
    .addOption(passwordFileOption())
    .option('--source-password-file <file>', 'file with the password of the keystore.dat (else it is asked)')
    .addHelpText(
      'after',
      `\nThe file holds a mnemonic, whose words may be numbered and have commas or lines between them, or a private key in hex,\nbase58, PEM, base64 of PKCS #8 or JWK, or is a keystore.dat; without one the terminal asks.\n${examples(
        'wallet import mnemonic.txt --wallet alice.json',
        'wallet import key.pem',
        'wallet import keystore.dat',
      )}`,
    )
    .action((file: string | undefined, options: ImportOptions) => importWallet(context, file, options))
  withWallet(withOutput(wallet.command('address')))
    .description('list the addresses and DIDs of a wallet')
    .option('--new', 'add the next account of the mnemonic to the keystore')
    .addHelpText('after', examples('wallet address', 'wallet address --new'))
    .action((options: WalletOptions & { new?: boolean }) => address(context, options))
  registerLabels(wallet, context)
  registerHistory(wallet, context)
  registerExport(wallet, context)
  registerTransfers(wallet, context)
  registerReplacements(wallet, context)
  registerMerge(wallet, context)
  registerMultisig(wallet, context)
}

function wordsOption(text: string): number {
  if (text === '12' || text === '24') return Number(text)
  throw new UserError('--words is 12 or 24', 2)
}

async function create(context: CliContext, options: CreateOptions): Promise<void> {
  const mnemonic = generateMnemonic(context.random, options.words === 24 ? 24 : 12)
  const account = await store(context, { kind: 'mnemonic', mnemonic }, options)
  const lines = [
    `Wrote ${options.wallet}. Write these words down: they are the wallet, and nobody can show them to you again.`,
    '',
    `  ${mnemonic}`,
    '',
    ...storedLines(account, options),
  ]
  const value = { wallet: options.wallet, mnemonic, ...accountJson(account) }
  await reportOnce(context, options, value, lines, () => withdraw(options.wallet))
}

/** Removes a keystore whose words could not be shown; returns what became of it. */
function withdraw(wallet: string): string {
  const unseen = 'its words could not be shown'
  try {
    rmSync(wallet)
    return `${wallet} was removed again, since ${unseen}`
  } catch (error) {
    return `${unseen}, and ${wallet} could not be removed (${fileReason(error)}): remove it, and make another`
  }
}

async function importWallet(context: CliContext, file: string | undefined, options: ImportOptions): Promise<void> {
  const text = file === undefined ? await askSecret(context) : readKeyFile(file, 'file to import')
  const { secret, skipped } = await importedSecret(context, text, options)
  const account = await store(context, secret, options)
  const keys = secret.kind === 'keys' ? secret.privateKeys.length : undefined
  report(context, options, { wallet: options.wallet, ...accountJson(account), ...defined({ keys }), skipped }, [
    `Wrote ${options.wallet}${keys === undefined ? '' : ` with ${keys} private key${keys === 1 ? '' : 's'}`}.`,
    ...skipped.map((skippedAddress) => `Left out ${skippedAddress}, which has no private key there (multisig).`),
    '',
    ...storedLines(account, options),
  ])
}

/** The first account of a keystore that was written, and the next step. */
function storedLines({ address: text, did }: Account, options: ImportOptions): string[] {
  const next = `Next: npx didledger wallet balance${sameOptions(options)}`
  const rows = [['address', text] as const, ['DID', did] as const]
  return [...formatTable(rows), '', next]
}

async function askSecret(context: CliContext): Promise<string> {
  if (context.prompt === undefined) throw new UserError('name a file to import: there is no terminal to ask on', 2)
  return context.prompt('Mnemonic or private key: ')
}

async function importedSecret(
  context: CliContext,
  text: string,
  options: ImportOptions,
): Promise<{ secret: WalletSecret; skipped: readonly string[] }> {
  const trimmed = text.trim()
  const json = trimmed.startsWith('{') ? tryJson(trimmed) : undefined
  if (isKeystoreDat(json)) {
    const password = await sourcePassword(context, options)
    const { privateKeys, skipped } = readKeystoreDat(trimmed, password)
    return { secret: { kind: 'keys', privateKeys }, skipped }
  }
  const mnemonic = plainMnemonic(trimmed)
  if (isMnemonic(mnemonic)) return { secret: { kind: 'mnemonic', mnemonic }, skipped: [] }
  const isJwk = typeof json === 'object' && json !== null && 'kty' in json
  if (trimmed === '' || (trimmed.startsWith('{') && !isJwk)) throw new UserError(neither)
  try {
    const privateKey = readPrivateKey(trimmed, 'the private key to import')
    return { secret: { kind: 'keys', privateKeys: [privateKey] }, skipped: [] }
  } catch (error) {
    if (isJwk || !isLikeMnemonic(trimmed)) throw error
    throw new UserError(`${neither}; as a mnemonic, ${mnemonicFault(mnemonic)}`)
  }
}

const neither =
  'neither a mnemonic (12 to 24 English words with a right checksum), nor a private key, nor a keystore.dat'
/** Characters of a word; those of BIP39 have fewer in every language. */
const longestWord = 20

/** Whether a text that is no mnemonic was meant as one: most of it is words. A key in lines has longer ones, and DER is no text. */
function isLikeMnemonic(text: string): boolean {
  const words = text.split(/[\s,;]+/)
  const isText = !text.includes('\ufffd') && !/-----begin /i.test(text)
  return isText && words.length > 1 && words.filter(({ length }) => length <= longestWord).length > words.length / 2
}

/** The password of the file to import; without a terminal, that of the new keystore. */
function sourcePassword(context: CliContext, options: ImportOptions): Promise<string> {
  if (options.sourcePasswordFile === undefined && context.prompt !== undefined) {
    return context.prompt('Password of the keystore.dat: ')
  }
  const file = options.sourcePasswordFile ?? options.passwordFile
  return readPassword(context, file, { text: 'Password of the keystore.dat' })
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Characters of a new password; older keystores with shorter ones open. */
const leastPassword = 8

async function store(
  context: CliContext,
  secret: WalletSecret,
  options: { readonly wallet: string; readonly passwordFile?: string },
): Promise<Account> {
  if (existsSync(options.wallet)) throw new UserError(`${options.wallet} exists already and is not overwritten`)
  const question = { text: `New password for ${options.wallet}`, confirm: true }
  const password = await readPassword(context, options.passwordFile, question)
  if ([...password].length < leastPassword) {
    throw new UserError(`the password is too short: a new keystore wants ${leastPassword} characters or more`)
  }
  const keystore = createKeystore(secret, password, context.random)
  writeKeystore(options.wallet, keystore)
  return keystoreAccounts(keystore)[0] as Account
}

async function address(context: CliContext, options: WalletOptions & { new?: boolean }): Promise<void> {
  const all = options.new ? await addAccount(context, options) : listAccounts(options)
  const accounts = options.account === undefined ? all : all.filter(({ index }) => index === options.account)
  if (accounts.length === 0) throw new UserError(`this wallet has no account ${options.account}`)
  const labels = labelsOf(options)
  const labelRow = (label: string | undefined): [string, string][] => (label === undefined ? [] : [['label', label]])
  report(
    context,
    options,
    accounts.map((account) => ({ ...accountJson(account), ...defined({ label: labels.get(account.address) }) })),
    accounts.flatMap((account) => [
      `Account ${account.index}`,
      ...formatTable([
        ...labelRow(labels.get(account.address)),
        ['address', account.address],
        ['DID', account.did],
        ['public key', toHex(account.publicKey)],
      ]),
    ]),
  )
}

/** Adds an account; returns those of the keystore up to it, without what another command adds after it. */
async function addAccount(context: CliContext, options: WalletOptions): Promise<Account[]> {
  if (options.devnetAccount !== undefined) throw new UserError('--new adds to a keystore; name it with --wallet', 2)
  const { path } = openWalletFile(options)
  const password = await readPassword(context, options.passwordFile, { text: `Password of ${path}` })
  return withFileLock(path, () => {
    const keystore = readKeystore(path)
    const secret = unlock(keystore, password)
    if (secret.kind === 'keys') throw new UserError(`${path} holds imported keys only; there is no next one to derive`)
    const count = keystore.head.accounts.length + 1
    const grown = createKeystore(secret, password, context.random, { count })
    writeKeystore(path, grown, { replace: true })
    return keystoreAccounts(grown)
  })
}

function accountJson({ index, address: text, did, publicKey }: Account): Record<string, unknown> {
  return { account: index, address: text, did, publicKey: toHex(publicKey) }
}
