import type { Command } from 'commander'
import type { Config } from '../config/config.js'
import { automine, type MiningMode } from '../devnet/mining-mode.js'
import { devnetOptions } from '../devnet/devnet-options.js'
import { UserError } from '../errors/rule-error.js'
import type { Servers } from '../node/serve-node.js'
import type { Node } from '../node/start-node.js'
import { parseAddress, type ProgramHash } from '../primitives/address.js'
import { formatAmount } from '../primitives/amount.js'
import { devnetAccount, devnetAccountCount, devnetMnemonic } from '../wallet/devnet-accounts.js'
import type { CliContext } from './cli-context.js'
import { withConfig } from './config-options.js'
import { namingTheRepair } from './damage.js'
import { accountJson, accountLines } from './devnet-account-table.js'
import { nextCommands } from './devnet-next.js'
import { runLocalNetwork } from './devnet-nodes.js'
import { loadSpec } from './load-spec.js'
import { examples } from './print-output.js'
import { type Presentation, runNode, startOf } from './run-node.js'

export function registerDevnet(program: Command, context: CliContext): void {
  withConfig(program.command('devnet'), 'devnet', context, (config, output) => {
    const { nodes, mining = automine, accounts = devnetAccountCount } = config.tuning.devnet ?? {}
    if (nodes !== undefined) return runLocalNetwork(context, config, output, nodes)
    refuseIdleInterval(config)
    const dataDir = config.tuning.storage?.dataDir
    return namingTheRepair({ genesis: 'devnet', dataDir }, () =>
      runNode(context, config, output, { spec: loadSpec('devnet') }, (node, servers) =>
        welcome(node, servers, { mining, accounts, temporary: dataDir === undefined }),
      ),
    )
  })
    .description('run an identity chain on this machine, with funded accounts and blocks on demand')
    .addHelpText('after', examples('devnet', 'devnet --block-time 5 --data-dir ./devnet', 'devnet --nodes 4'))
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
  shownAs: { readonly mining: MiningMode; readonly accounts: number; readonly temporary: boolean },
): Promise<Presentation> {
  const { start, lines: startLines } = startOf(node, servers)
  // The accounts of the genesis block always exist, however few are shown.
  const funded = Array.from({ length: Math.max(shownAs.accounts, devnetAccountCount) }, (_, index) => {
    const account = devnetAccount(index)
    return { ...account, balance: balance(node, account.address) }
  })
  const accounts = funded.slice(0, shownAs.accounts)
  const next = await nextCommands(node, funded, servers.ports, shownAs.mining)
  const lines = [
    ...startLines,
    ...(shownAs.temporary ? ['          (temporary: it goes when the devnet ends; --data-dir keeps it)'] : []),
    '',
    ...accountLines(accounts),
    '',
    'Next, in another terminal in this directory:',
    '',
    ...next.map((command) => `  ${command}`),
    '',
    'Ctrl-C stops the devnet.',
  ]
  return { value: { ...start, mnemonic: devnetMnemonic, accounts: accounts.map(accountJson) }, lines }
}

function balance(node: Node, address: string): string {
  return formatAmount(node.reader.balance(parseAddress(address) as ProgramHash).sum)
}
