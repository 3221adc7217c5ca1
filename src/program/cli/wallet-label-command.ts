import { type Command, Option } from 'commander'
import { UserError } from '../../base/errors/rule-error.js'
import { defined } from '../../base/primitives/defined.js'
import {
  changeLabels,
  type Labels,
  labelsPath,
  readLabels,
  withLabel,
  withoutLabel,
} from '../../clients/wallet/labels.js'
import type { CliContext } from './cli-context.js'
import { defaultWalletFile, integerOption, recipientOption, type WalletOptions, withOutput } from './command-options.js'
import { columnLines, examples, report, sameOptions, shellWord } from './print-output.js'
import { openWalletFile } from './signing-account.js'

interface LabelOptions extends Pick<WalletOptions, 'json' | 'wallet' | 'devnetAccount'> {
  readonly remove?: true
}

/** `didledger wallet label` */
export function registerLabels(wallet: Command, context: CliContext): void {
  withOutput(wallet.command('label'))
    .description('give an address a label, or list the labels')
    .argument('[address]', 'the address; without it all labels are listed', (text) => recipientOption(text).address)
    .argument('[text]', 'its label; without it that is shown')
    .option('--remove', 'remove the label of the address')
    .addOption(
      new Option('--wallet <file>', `keystore file beside which they are kept (default: ${defaultWalletFile})`),
    )
    .addOption(
      new Option('--devnet-account <n>', 'has no keystore, and so no labels').argParser(integerOption).hideHelp(),
    )
    .addHelpText(
      'after',
      examples(
        'wallet label ENDyipsk2GW4bBAmpRoNBV3GKV55Nxw2RD Bob',
        'wallet send --to Bob --amount 2.5',
        'wallet label ENDyipsk2GW4bBAmpRoNBV3GKV55Nxw2RD --remove',
      ),
    )
    .action((address: string | undefined, text: string | undefined, options: LabelOptions) =>
      label(context, address, text, options),
    )
}

async function label(
  context: CliContext,
  address: string | undefined,
  text: string | undefined,
  options: LabelOptions,
): Promise<void> {
  if (options.devnetAccount !== undefined) {
    throw new UserError('labels are kept beside a keystore, and --devnet-account has none: name one with --wallet', 2)
  }
  const path = labelsPath(openWalletFile(options).path)
  if (options.remove) await remove(context, path, { address, text, options })
  else if (address === undefined) list(context, readLabels(path), options)
  else if (text === undefined) show(context, address, readLabels(path).get(address), options)
  else await set(context, path, { address, text, options })
}

async function remove(
  context: CliContext,
  path: string,
  { address, text, options }: { address: string | undefined; text: string | undefined; options: LabelOptions },
): Promise<void> {
  if (address === undefined || text !== undefined) throw new UserError('--remove takes an address alone', 2)
  let before: string | undefined
  await changeLabels(path, (labels) => {
    before = labels.get(address)
    return withoutLabel(labels, address)
  })
  report(context, options, { address, removed: before }, [`Removed the label "${before}" of ${address}.`])
}

function list(context: CliContext, labels: Labels, options: LabelOptions): void {
  const rows = [...labels].sort(([, a], [, b]) => (a < b ? -1 : 1))
  const json = rows.map(([address, each]) => ({ address, label: each }))
  report(context, options, json, rows.length === 0 ? ['No labels.'] : columnLines(rows))
}

function show(context: CliContext, address: string, found: string | undefined, options: LabelOptions): void {
  if (found === undefined) throw new UserError(`${address} has no label`)
  report(context, options, { address, label: found }, [found])
}

async function set(
  context: CliContext,
  path: string,
  { address, text, options }: { address: string; text: string; options: LabelOptions },
): Promise<void> {
  const labels = await changeLabels(path, (before) => withLabel(before, address, text))
  const given = labels.get(address) as string
  const next = `npx didledger wallet send --to ${shellWord(given)} --amount COINS${sameOptions(defined({ wallet: options.wallet }))}`
  report(context, options, { address, label: given, file: path }, [
    `${address} has the label "${given}", kept in ${path}.`,
    '',
    `Next: ${next}`,
  ])
}
