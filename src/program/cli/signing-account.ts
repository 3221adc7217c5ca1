import { UserError } from '../../base/errors/rule-error.js'
import { type Account, accountSource, type SigningAccount, type WalletSecret } from '../../clients/wallet/accounts.js'
import { devnetAccount } from '../../clients/wallet/devnet-accounts.js'
import { isThere, readTextFile } from '../../clients/wallet/files.js'
import { type Keystore, keystoreAccounts, openKeystore, readKeystore } from '../../clients/wallet/keystore.js'
import type { CliContext } from './cli-context.js'
import { defaultWalletFile, type WalletOptions } from './command-options.js'
import { shellWord } from './print-output.js'
import { requireText } from './require-text.js'

/** The environment variable that holds a password. */
export const passwordVariable = 'DIDLEDGER_PASSWORD'

/** A password from its file, the environment or the terminal, in this order; a new one, which is asked for twice, of one line. */
export async function readPassword(
  context: CliContext,
  file: string | undefined,
  question: { text: string; confirm?: boolean },
): Promise<string> {
  const isNew = question.confirm === true
  if (file !== undefined) return checked(passwordIn(file), `the password in ${file}`, isNew)
  const fromEnvironment = context.env[passwordVariable]
  if (fromEnvironment !== undefined) {
    return checked(requireText(fromEnvironment, passwordVariable), passwordVariable, isNew)
  }
  if (context.prompt === undefined) {
    throw new UserError(
      `a password is needed and there is no terminal to ask on; use --password-file FILE or ${passwordVariable}`,
      2,
    )
  }
  const password = requireText(await context.prompt(`${question.text}: `), 'the password')
  if (question.confirm && (await context.prompt('The same again: ')) !== password) {
    throw new UserError('the two passwords differ')
  }
  return password
}

/** The password in a file, whose last line end is no part of it. An empty one, as of a command that failed, would look like a wrong one. */
function passwordIn(file: string): string {
  const password = readTextFile(file, 'password file').replace(/\r?\n$/, '')
  if (password === '') throw new UserError(`the password file ${file} is empty`)
  return password
}

/** Refuses a new password that no prompt would take, as of a file with a blank line at its end. Older keystores may have one. */
function checked(password: string, source: string, isNew: boolean): string {
  if (isNew && hasLineEnd(password)) {
    throw new UserError(`${source} ${containsLineEnd}; a password is one line, as no prompt takes more`)
  }
  return password
}

const containsLineEnd = 'contains a line end (the last one of a file is left out, and no other)'

function hasLineEnd(password: string): boolean {
  return /[\r\n]/.test(password)
}

/** The secret of a keystore. A wrong password with a line end in it may be the right one but for that. */
export function unlock(keystore: Keystore, password: string): WalletSecret {
  try {
    return openKeystore(keystore, password)
  } catch (error) {
    if (!(error instanceof UserError) || !hasLineEnd(password)) throw error
    throw new UserError(`${error.message}; the one given ${containsLineEnd}`)
  }
}

/** The keystore that the options name; if it is missing, a {@link UserError} with the command that makes one. */
export function openWalletFile({ wallet = defaultWalletFile }: WalletOptions): { path: string; keystore: Keystore } {
  if (!isThere(wallet, 'keystore')) {
    throw new UserError(
      `there is no keystore ${wallet}; make one with: npx didledger wallet create --wallet ${shellWord(wallet)} ` +
        '(on a devnet, --devnet-account 0 needs none)',
    )
  }
  return { path: wallet, keystore: readKeystore(wallet) }
}

/** The accounts that the options name, without a password. */
export function listAccounts(options: WalletOptions): Account[] {
  if (options.devnetAccount !== undefined) return [devnetAccount(options.devnetAccount)]
  return keystoreAccounts(openWalletFile(options).keystore)
}

/** The one account that the options select, without a password. */
export function publicAccount(options: WalletOptions): Account {
  const accounts = listAccounts(options)
  if (options.devnetAccount !== undefined) return accounts[0] as Account
  const index = options.account ?? 0
  const account = accounts[index]
  if (account === undefined) throw noAccount(index, accounts.length)
  return account
}

/** The secret of the keystore that the options name. */
export async function openSecret(context: CliContext, options: WalletOptions): Promise<WalletSecret> {
  const { path, keystore } = openWalletFile(options)
  return unlock(keystore, await readPassword(context, options.passwordFile, { text: `Password of ${path}` }))
}

/** The account that the options name, with its keys; asks for the password of a keystore. */
export async function signingAccount(context: CliContext, options: WalletOptions): Promise<SigningAccount> {
  if (options.devnetAccount !== undefined) return devnetAccount(options.devnetAccount)
  const { index } = publicAccount(options)
  return accountSource(await openSecret(context, options))(index)
}

/** The account that the options name, and every account of its wallet: a key of the DID may be that of another one. */
export async function accountAndOthers(
  context: CliContext,
  options: WalletOptions,
): Promise<{ readonly account: SigningAccount; readonly accounts: readonly SigningAccount[] }> {
  const index = options.devnetAccount === undefined ? publicAccount(options).index : 0
  const accounts = await signingAccounts(context, options)
  return { account: accounts[index] as SigningAccount, accounts }
}

/** Every account that the options name, with its keys. */
export async function signingAccounts(context: CliContext, options: WalletOptions): Promise<SigningAccount[]> {
  if (options.devnetAccount !== undefined) return [devnetAccount(options.devnetAccount)]
  const accounts = listAccounts(options)
  const open = accountSource(await openSecret(context, options))
  return accounts.map(({ index }) => open(index))
}

function noAccount(index: number, count: number): UserError {
  return new UserError(
    `this wallet has ${count === 1 ? 'one account, 0' : `accounts 0 to ${count - 1}`}; there is no account ${index} ` +
      '("npx didledger wallet address --new" adds one)',
  )
}
