import { type Command, InvalidArgumentError, Option } from 'commander'
import type { MiningMode } from '../devnet/devnet.js'
import type { Node } from '../node.js'
import { formatAmount } from '../primitives/amount.js'
import { parseAddress, type ProgramHash } from '../primitives/address.js'
import { toHex } from '../primitives/bytes.js'
import { devnetAccount, devnetAccountCount, devnetMnemonic } from '../wallet/devnet-accounts.js'
import type { CliContext } from './context.js'
import { namingTheRepair } from './damage.js'
import { nextCommands } from './devnet-next.js'
import { examples } from './output.js'
import { type Presentation, runNode, type ServeOptions, startOf, withServing } from './serve.js'
import { loadSpec } from './spec.js'

interface DevnetOptions extends ServeOptions {
  readonly blockTime?: number
  readonly automine: boolean
}

export function registerDevnet(program: Command, context: CliContext): void {
  withServing(program.command('devnet'))
    .description('run an identity chain on this machine, with funded accounts and blocks on demand')
    .addOption(new Option('--block-time <seconds>', 'make a block every so often').argParser(blockTime))
    .addOption(new Option('--no-automine', 'make blocks only on dev_mine').conflicts('blockTime'))
    .addHelpText('after', examples('devnet', 'devnet --block-time 5 --data-dir ./devnet'))
    .action((options: DevnetOptions) =>
      namingTheRepair({ genesis: 'devnet', dataDir: options.dataDir }, () =>
        runNode(context, options, { spec: loadSpec('devnet'), mining: miningMode(options) }, (node, ports) =>
          welcome(node, ports, options),
        ),
      ),
    )
}

function miningMode({ blockTime: seconds, automine }: DevnetOptions): MiningMode {
  if (seconds !== undefined) return { kind: 'interval', seconds }
  return automine ? { kind: 'automine' } : { kind: 'manual' }
}

async function welcome(
  node: Node,
  ports: { rest: number; rpc: number },
  options: DevnetOptions,
): Promise<Presentation> {
  const { start, lines: startLines } = startOf(node, ports)
  const accounts = Array.from({ length: devnetAccountCount }, (_, index) => {
    const account = devnetAccount(index)
    return { ...account, balance: balance(node, account.address) }
  })
  const next = await nextCommands(node, accounts, ports, miningMode(options))
  const lines = [
    ...startLines,
    ...(options.dataDir === undefined
      ? ['          (temporary: it goes when the devnet ends; --data-dir keeps it)']
      : []),
    '',
    'Accounts. Everybody knows these keys: never use them for anything of value.',
    '',
    ...accounts.flatMap(({ index, address, did: own, privateKey, balance: amount }) => [
      `(${index})  ${address}  ${amount} ELA`,
      `     ${own}`,
      `     key ${toHex(privateKey)}`,
    ]),
    '',
    `Mnemonic  ${devnetMnemonic}`,
    "Path      m/44'/0'/0'/0/n",
    '',
    'Next, in another terminal in this directory:',
    '',
    ...next.map((command) => `  ${command}`),
    '',
    'Ctrl-C stops the devnet.',
  ]
  const shown = accounts.map(({ address, did: own, privateKey, balance: amount }) => ({
    address,
    did: own,
    key: toHex(privateKey),
    balance: amount,
  }))
  return { value: { ...start, mnemonic: devnetMnemonic, accounts: shown }, lines }
}

function balance(node: Node, address: string): string {
  return formatAmount(node.reader.balance(parseAddress(address) as ProgramHash).sum)
}

function blockTime(text: string): number {
  if (!/^[1-9][0-9]{0,5}$/.test(text)) throw new InvalidArgumentError('Not a number of seconds from 1 on.')
  return Number(text)
}
