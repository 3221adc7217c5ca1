import type { Command } from 'commander'
import type { Config } from '../../node/config/config.js'
import type { Devnet, StateFile } from '../../node/devnet/devnet.js'
import { automine, type MiningMode } from '../../node/devnet/mining-mode.js'
import { devnetOptions } from '../../node/devnet/devnet-options.js'
import type { SeededDids } from '../../node/devnet/seed-dids.js'
import { UserError } from '../../base/errors/rule-error.js'
import type { Servers } from '../../node/serving/serve-node.js'
import type { Node } from '../../node/node.js'
import { parseAddress, type ProgramHash } from '../../base/primitives/address.js'
import { formatAmount } from '../../base/primitives/amount.js'
import { defined } from '../../base/primitives/defined.js'
import { storageOptions } from '../../ledger/storage/storage-options.js'
import type { SigningAccount } from '../../clients/wallet/accounts.js'
import {
  devnetAccount,
  devnetAccountCount,
  devnetAccountsOf,
  devnetMnemonic,
  isDevnetMnemonic,
} from '../../clients/wallet/devnet-accounts.js'
import type { CliContext } from './cli-context.js'
import { withConfig } from './config-options.js'
import { namingTheRepair } from './repair-hint.js'
import { accountJson, accountLines } from './devnet-account-table.js'
import { nextCommands } from './devnet-next.js'
import { runLocalNetwork } from './devnet-nodes.js'
import { loadSpec } from './load-spec.js'
import { examples, shellWord } from './print-output.js'
import { type Presentation, runNode, startOf } from './run-node.js'

export function registerDevnet(program: Command, context: CliContext): void {
  withConfig(program.command('devnet'), 'devnet', context, async (config, output) => {
    const { nodes, mining = automine, accounts = devnetAccountCount, mnemonic, state } = config.tuning.devnet ?? {}
    if (nodes !== undefined) return runLocalNetwork(context, config, output, nodes)
    refuseIdleInterval(config)
    refuseTwoStores(config)
    const dataDir = config.tuning.storage?.dataDir
    const temporary = dataDir === undefined && state === undefined
    let ended: Devnet | undefined
    await namingTheRepair({ genesis: 'devnet', dataDir }, () =>
      runNode(context, config, output, { spec: loadSpec('devnet') }, (node, servers) => {
        ended = node.devnet
        return welcome(node, servers, { mining, accounts, temporary, ...defined({ mnemonic }) })
      }),
    )
    const saved = ended?.saved
    if (saved === undefined || output.json === true) return
    context.out(
      `The state is in ${saved.file}, at height ${saved.height}: --state ${shellWord(saved.file)} goes on there.\n`,
    )
  })
    .description('run an identity chain on this machine, with funded accounts and blocks on demand')
    .addHelpText(
      'after',
      examples(
        'devnet',
        'devnet --block-time 5 --data-dir ./devnet',
        'devnet --state ./devnet.state --seed-dids 1000',
        'devnet --nodes 4',
      ),
    )
}

/** Refuses a state file beside a data directory: each of them would keep the chain. */
function refuseTwoStores(config: Config): void {
  const [file, directory] = [devnetOptions.state, storageOptions.dataDir]
  if (config.get(file) === undefined || config.get(directory) === undefined) return
  const [first, second] = [file, directory].map((option) => `${option.key} (${config.sourceOf(option)})`)
  throw new UserError(`${first} keeps the chain in a file, ${second} in a directory: use one of them`, 2)
}

/** Refuses an interval between blocks where none are made unasked. */
function refuseIdleInterval(config: Config): void {
  const { blockTime, automine: unasked } = devnetOptions
  if (config.get(blockTime) === undefined || config.get(unasked)) return
  const [first, second] = [blockTime, unasked].map((option) => `${option.key} (${config.sourceOf(option)})`)
  throw new UserError(`${first} cannot be used where ${second} is false`, 2)
}

async function welcome(
  node: Node,
  servers: Servers,
  shownAs: {
    readonly mining: MiningMode
    readonly accounts: number
    readonly mnemonic?: string
    readonly temporary: boolean
  },
): Promise<Presentation> {
  const { start, lines: startLines } = startOf(node, servers)
  const { mnemonic = devnetMnemonic } = shownAs
  const ofMnemonic = devnetAccountsOf(mnemonic)
  const isOwn = !isDevnetMnemonic(mnemonic)
  const fundedOf = (account: (index: number) => SigningAccount, count: number) =>
    Array.from({ length: count }, (_, index) => ({ ...account(index), balance: balance(node, account(index).address) }))
  // The accounts of the genesis block always exist, however few are shown.
  const funded = fundedOf(devnetAccount, isOwn ? devnetAccountCount : Math.max(shownAs.accounts, devnetAccountCount))
  const accounts = isOwn ? fundedOf(ofMnemonic, shownAs.accounts) : funded.slice(0, shownAs.accounts)
  const next = await nextCommands(node, funded, servers.ports, shownAs.mining)
  const [title = '', ...endpoints] = startLines
  const lines = [
    title,
    '',
    ...accountLines(accounts, mnemonic),
    ...(isOwn ? [`Besides   the ${devnetAccountCount} accounts of every devnet: --devnet-account 0 and so on`] : []),
    ...seededLines(node.devnet?.seeded),
    '',
    'Next, in another terminal in this directory:',
    '',
    ...next.map((command) => `  ${command}`),
    ...endpoints,
    ...(shownAs.temporary
      ? ['          (temporary: it goes when the devnet ends; --state or --data-dir keeps it)']
      : []),
    ...stateLines(node.devnet?.stateFile),
    '',
    'Ctrl-C stops the devnet.',
  ]
  const dids = node.devnet?.seeded
  const shown = { mnemonic, accounts: accounts.map(accountJson) }
  return { value: { ...start, ...shown, ...defined({ dids }) }, lines }
}

function seededLines(seeded: SeededDids | undefined): string[] {
  if (seeded === undefined) return []
  const { count, first } = seeded
  return [`DIDs      ${count} registered, such as`, ...first.map((did) => `          ${did}`)]
}

function stateLines(stateFile: StateFile | undefined): string[] {
  if (stateFile === undefined) return []
  const { path, loaded } = stateFile
  const what = loaded === undefined ? 'not there yet' : `read, with ${loaded} blocks`
  return [`State     ${path} (${what}; saved when the devnet ends)`]
}

function balance(node: Node, address: string): string {
  return formatAmount(node.reader.balance(parseAddress(address) as ProgramHash).sum)
}
