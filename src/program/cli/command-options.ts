import { type Command, InvalidArgumentError, Option } from 'commander'
import { dereferenceText } from '../../answers/api/api-options.js'
import { longestTimer } from '../../clients/client/arguments.js'
import { defaultRestUrl } from '../../clients/client/node-client.js'
import { acceptedPrefixes } from '../../ledger/consensus/sanity.js'
import { UserError } from '../../base/errors/rule-error.js'
import { dereferenceForms } from '../../answers/identifiers/identifier-answer.js'
import { parseAddress, type ProgramHash } from '../../base/primitives/address.js'
import { formatAmount, parseAmount } from '../../base/primitives/amount.js'
import { withoutGaps } from '../../base/primitives/digit-groups.js'
import { didFault, parseDid } from '../../clients/wallet/did-identity.js'
import type { ChainRules } from '../../clients/wallet/terms.js'

export const defaultWalletFile = 'wallet.json'

/** Options of every command. */
export interface OutputOptions {
  readonly json?: boolean
}

/** Options of commands that run long. */
export interface QuietOptions extends OutputOptions {
  readonly quiet?: boolean
}

/** Options of commands that use the keys or addresses of a wallet. */
export interface WalletOptions extends OutputOptions {
  readonly wallet?: string
  readonly devnetAccount?: number
  readonly account?: number
  readonly passwordFile?: string
}

/** Options of commands that need a chain's rules; those of the node without --genesis. */
export interface SpecFlags {
  readonly genesis?: string
}

/** Options of commands that query a node. */
export interface RestFlags {
  readonly rest: string
}

/** Options of commands that send a transaction. */
export interface SendOptions extends RestFlags, SpecFlags {
  readonly wait: boolean
}

export function withOutput(command: Command): Command {
  return command.option('--json', 'print JSON instead of text')
}

/** For commands that serve DID Resolution beside a node. */
export function withDereference(command: Command): Command {
  const option = new Option('--dereference <how>', dereferenceText)
  return command.addOption(option.choices(dereferenceForms).default('redirect'))
}

/** For commands that show what happens beside their result. */
export function withQuiet(command: Command): Command {
  return withOutput(command).option('-q, --quiet', 'show no progress and no live log')
}

export function withWallet(command: Command): Command {
  return withAccount(command, {
    wallet: `keystore file (default: ${defaultWalletFile})`,
    devnetAccount: 'use the well-known account n of a devnet instead of a keystore',
  }).addOption(passwordFileOption())
}

/** Adds the options that choose an account, of a keystore or of a devnet, with the texts of the first two. */
export function withAccount(
  command: Command,
  { wallet, devnetAccount }: { readonly wallet: string; readonly devnetAccount: string },
): Command {
  const account = new Option('--account <n>', 'which account of the keystore (default: 0)').argParser(integerOption)
  return command
    .addOption(new Option('--wallet <file>', wallet).conflicts('devnetAccount'))
    .addOption(new Option('--devnet-account <n>', devnetAccount).argParser(integerOption))
    .addOption(account.conflicts('devnetAccount'))
}

/** No option takes the password itself: other users of the machine can see arguments. */
export function passwordFileOption(): Option {
  return new Option('--password-file <file>', 'file with the password (else DIDLEDGER_PASSWORD, else a prompt)')
}

export function withChain(command: Command): Command {
  return command.option(
    '--genesis <name|file>',
    'the chain that the node has to have: devnet, localnet, pow or a file (default: that of the node; offline devnet)',
  )
}

export function withNode(command: Command): Command {
  return command.option('--rest <url>', 'REST address of a node', defaultRestUrl)
}

export function withSending(command: Command): Command {
  return withChain(withNode(command)).option('--no-wait', 'return as soon as the node has the transaction')
}

/** Reads whole numbers from `least` to `most`; `fault` is said of anything else. */
export function wholeOption(least: number, most: number, fault: string): (text: string) => number {
  return (given) => {
    const text = withoutGaps(given)
    const number = /^(0|[1-9][0-9]*)$/.test(text) ? Number(text) : NaN
    if (number >= least && number <= most) return number
    throw new InvalidArgumentError(fault)
  }
}

/** An account number. */
export const integerOption = wholeOption(0, 2 ** 31 - 1, 'Not a whole number from 0 on.')

/** A number of things. */
export const countOption = wholeOption(0, Number.MAX_SAFE_INTEGER, 'Not a whole number from 0 on.')

/** A time in seconds that a timer can wait. */
export const secondsOption = wholeOption(
  1,
  Math.floor(longestTimer / 1000),
  'Not a number of seconds from 1 on, 24 days at most.',
)

/** A block height. */
export const heightOption = wholeOption(0, 0xffffffff, 'Not a block height.')

/** A port; 0: a free one. */
export const portOption = wholeOption(0, 65_535, 'Not a port, 0 to 65535.')

/** An amount of coins in units of 10^-8. */
export function amountOption(given: string): bigint {
  const text = withoutGaps(given.trim())
  const amount = parseAmount(text)
  if (amount !== undefined) return amount
  if (text.startsWith('-')) throw new InvalidArgumentError('An amount cannot be negative.')
  if (/^[0-9]+\.[0-9]{9,}$/.test(text)) throw new InvalidArgumentError('An amount has at most 8 decimals.')
  if (/^[0-9]+(\.[0-9]{1,8})?$/.test(text)) throw new InvalidArgumentError('More coins than there can be.')
  throw new InvalidArgumentError('Not an amount of coins such as 1 or 0.25.')
}

/** A price of a byte in sela, with at most three decimals; the result in sela for 1000 bytes. */
export function rateOption(text: string): number {
  if (/^[0-9]{1,6}(\.[0-9]{1,3})?$/.test(text)) return Math.round(Number(text) * 1000)
  throw new InvalidArgumentError('Not a price of a byte in sela (10^-8 coins), such as 2 or 0.5.')
}

/** Refuses options that are given twice, where the last one would count alone although each adds something. */
export function onlyOnce(command: Command, names: readonly string[], advice: string): Command {
  for (const name of names) {
    let isGiven = false
    command.on(`option:${name}`, () => {
      if (isGiven) throw new UserError(`--${name} is given twice; ${advice}`, 2)
      isGiven = true
    })
  }
  return command
}

/** Collects the values of an option that may be given several times. */
export function collect<T>(parse: (text: string) => T): (text: string, previous: T[] | undefined) => T[] {
  return (text, previous = []) => [...previous, parse(text)]
}

/** An address that outputs may pay; blanks around it are ignored. */
export function recipientOption(given: string): { address: string; programHash: ProgramHash } {
  const text = given.trim()
  const programHash = parseAddress(text)
  if (programHash === undefined) throw new InvalidArgumentError('Not an address (34 characters with a right checksum).')
  if (!acceptedPrefixes.includes(programHash[0])) {
    throw new InvalidArgumentError('This chain has no addresses of that kind; they begin with E, 8 or i.')
  }
  return { address: text, programHash }
}

/** A full DID, from its text or its identifier alone; blanks around it are ignored. */
export function didArgument(given: string): string {
  const text = given.trim()
  const parsed = parseDid(text)
  if (parsed !== undefined) return parsed.did
  const versions = /[?&]version(Id|Time)=/.test(text) ? '; "did resolve" has --version-id and --version-time' : ''
  throw new InvalidArgumentError(`Not a DID of this chain: ${didFault(text)}${versions}${meantText(text)}.`)
}

/** Names the DID in a text that begins with capitals, or is percent-encoded: DID Core has neither (3.1), and programs compare DIDs as they stand. */
function meantText(text: string): string {
  const [, method, identifier] = /^did(?::|%3a)([a-z]+)(?::|%3a)(.*)$/i.exec(text) ?? []
  const meant = method === undefined ? undefined : parseDid(`did:${method.toLowerCase()}:${identifier}`)
  return meant === undefined ? '' : `; the DID meant is ${meant.did}`
}

/** Throws a {@link UserError} with exit code 2 if an amount exceeds the supply of the chain. */
export function requireWithinSupply(option: string, amount: bigint, { name, maxMoney }: ChainRules): void {
  if (amount <= maxMoney) return
  const supply = formatAmount(maxMoney)
  throw new UserError(`${option} ${formatAmount(amount)} is more than the supply of ${name}, ${supply}`, 2)
}
