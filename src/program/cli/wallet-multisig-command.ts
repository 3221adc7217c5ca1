import { type Command, InvalidArgumentError } from 'commander'
import { UserError } from '../../base/errors/rule-error.js'
import { toHex } from '../../base/primitives/bytes.js'
import { defined } from '../../base/primitives/defined.js'
import { maxMultisigKeys } from '../../base/primitives/program.js'
import { type MultisigAccount, multisigAccount, repeatedKeys } from '../../clients/wallet/multisig.js'
import { combineSignatures, holdsKey } from '../../clients/wallet/multisig-signatures.js'
import { readTransactionFile } from '../../clients/wallet/transaction-on-disk.js'
import type { CliContext } from './cli-context.js'
import {
  collect,
  integerOption,
  onlyOnce,
  type OutputOptions,
  type WalletOptions,
  withAccount,
  withChain,
  withNode,
  withOutput,
} from './command-options.js'
import { publicKeyArgument } from './key-options.js'
import { shownFile } from './named-files.js'
import { examples, report, formatTable } from './print-output.js'
import { publicAccount } from './signing-account.js'
import { nextStep, reportFile, signedPath } from './transaction-report.js'
import { withTransfer } from './transfer-options.js'
import { type BuildOptions, buildFile, withBuilding } from './wallet-transfer-command.js'

interface KeysOptions extends WalletOptions {
  readonly required: number
  readonly key?: Uint8Array[]
}

// Accounts 1 and 2 of every devnet.
const exampleKeys =
  '--key 024059d6999859dd0aa1ee217b0dc00cfb496ca6d225ec701736f3dabb0f5212b9 ' +
  '--key 03bef17e3cc0518c68ecb78977771f6509776792c895fe6d668d3dbf5f8dd50299'

/** `didledger wallet multisig …` */
export function registerMultisig(wallet: Command, context: CliContext): void {
  const multisig = wallet.command('multisig').description('addresses that several keys own together')
  withKeys(withOutput(multisig.command('address')))
    .description('show the address of which several of these keys spend; needs no node')
    .addHelpText('after', examples(`wallet multisig address --required 2 ${exampleKeys} --devnet-account 0`))
    .action((options: KeysOptions) => address(context, options))
  withBuilding(withTransfer(withNode(withChain(withKeys(withOutput(multisig.command('build')))))))
    .description('build a transfer from such an address and write it to a file, unsigned')
    .addHelpText(
      'after',
      `\nThe owners sign the file with "wallet sign", one after the other, or copies of it that "wallet multisig combine" puts\ntogether; "wallet send" sends it.\n${examples(
        `wallet multisig build --required 2 ${exampleKeys} --devnet-account 0 --to ENDyipsk2GW4bBAmpRoNBV3GKV55Nxw2RD --amount 2.5 -o shared.json`,
      )}`,
    )
    .action((options: KeysOptions & BuildOptions) => buildFile(context, accountOf(options).code, options))
  withOutput(multisig.command('combine <files...>'))
    .description('put the signatures of copies of one transaction file into one; needs no node')
    .option(
      '-o, --output <file>',
      'file to write, - for standard output (default: the name of the first with .signed.json)',
    )
    .addHelpText('after', examples('wallet multisig combine alice.json bob.json -o shared.signed.json'))
    .action((files: string[], options: OutputOptions & { output?: string }) => combine(context, files, options))
}

function withKeys(command: Command): Command {
  command.requiredOption('--required <m>', 'how many signatures spend', requiredOption).option(
    '--key <key>',
    'public key of an owner: hex, base58, PEM, JWK, or a file with it; once for each, in any order',
    collect((text) => publicKeyArgument('--key', text)),
  )
  withAccount(command, {
    wallet: 'add the key of this keystore',
    devnetAccount: 'add the key of the well-known account n of a devnet',
  })
  const advice = 'it adds one key: name those of the others with --key KEY, as "wallet export --public" prints them'
  return onlyOnce(command, ['wallet', 'devnet-account', 'account'], advice)
}

function requiredOption(text: string): number {
  const required = integerOption(text)
  if (required >= 1 && required <= maxMultisigKeys) return required
  throw new InvalidArgumentError(`Not a number from 1 to ${maxMultisigKeys}.`)
}

/** The account of the keys in the options; the own key counts once even if --key names it too. */
function accountOf(options: KeysOptions): MultisigAccount {
  const { key = [], required, wallet, devnetAccount, account } = options
  const named = wallet !== undefined || devnetAccount !== undefined || account !== undefined
  const own = named ? publicAccount(options).publicKey : undefined
  const keys = own === undefined || holdsKey({ keys: key }, own) ? key : [...key, own]
  if (keys.length === 0) throw new UserError('--key KEY names a public key of an owner; "wallet address" shows them', 2)
  return multisigAccount(keys, required)
}

function address(context: CliContext, options: KeysOptions): void {
  const { address: text, code, keys, required } = accountOf(options)
  const repeated = repeatedKeys(keys).map(toHex)
  const json = { address: text, required, keys: keys.map(toHex), code: toHex(code), repeated }
  report(context, options, json, [
    text,
    ...formatTable([
      ['signatures', `${required} of ${keys.length}`],
      ...keys.map((key): [string, string] => ['key', toHex(key)]),
    ]),
    ...repeated.map((key) => `Careful: ${key} belongs to the owner of the key above it, who counts twice.`),
    '',
    `Next: npx didledger wallet balance ${text}`,
  ])
}

function combine(context: CliContext, paths: readonly string[], options: OutputOptions & { output?: string }): void {
  const files = paths.map((path) => readTransactionFile(path))
  const transaction = combineSignatures(
    files.map((file) => file.transaction),
    paths,
  )
  const stated = files.map(({ spent }) => spent).filter((spent) => spent !== undefined)
  const [spent] = stated
  // No signature covers the amounts: if the files disagree, one of them states a wrong fee.
  if (stated.some((other) => JSON.stringify(other) !== JSON.stringify(spent))) {
    throw new UserError('the files differ in what the inputs are worth; find out which one is wrong, and leave it out')
  }
  const file = { transaction, ...defined({ spent }) }
  const output = options.output ?? signedPath(paths[0] as string, transaction)
  const said = `Combined ${paths.length} files; wrote ${shownFile(output)}.`
  reportFile(context, options, { output, file, said, next: nextStep(output, transaction) })
}
