import { type Command, InvalidArgumentError, Option } from 'commander'
import type { MiningMode } from '../devnet/devnet.js'
import { type Node, startNode } from '../node.js'
import { formatAmount } from '../primitives/amount.js'
import { parseAddress, type ProgramHash } from '../primitives/address.js'
import { toHex } from '../primitives/bytes.js'
import { devnetAccount, devnetAccountCount, devnetMnemonic } from '../wallet/devnet-accounts.js'
import type { CliContext } from './context.js'
import { examples, sameOptions } from './output.js'
import { runUntilStopped, serve, serveEnv, type ServeOptions, withServing } from './serve.js'
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
    .action(async (options: DevnetOptions) => {
      const env = serveEnv(options)
      const spec = loadSpec('devnet')
      const dataDir = options.dataDir === undefined ? {} : { dataDir: options.dataDir }
      const node = await startNode({ spec, env, mining: miningMode(options), ...dataDir })
      const servers = await serve(node, options, env.log).catch(async (error: unknown) => {
        await node.close()
        throw error
      })
      context.out(welcome(node, servers.ports, options))
      await runUntilStopped(node, servers)
    })
}

function miningMode({ blockTime: seconds, automine }: DevnetOptions): MiningMode {
  if (seconds !== undefined) return { kind: 'interval', seconds }
  return automine ? { kind: 'automine' } : { kind: 'manual' }
}

function welcome(node: Node, ports: { rest: number; rpc: number }, options: DevnetOptions): string {
  const rest = `http://127.0.0.1:${ports.rest}`
  const where = sameOptions({ rest })
  const accounts = Array.from({ length: devnetAccountCount }, (_, index) => devnetAccount(index))
  const recipient = accounts[1]?.address ?? ''
  const did = accounts[2]?.did ?? ''
  const lines = [
    `didledger devnet at height ${node.reader.height}, genesis ${node.chain.genesis.hash}`,
    `data in ${options.dataDir ?? `${node.directory.path} (goes when this ends; --data-dir keeps it)`}`,
    '',
    `REST      ${rest}/api/v1`,
    `JSON-RPC  http://127.0.0.1:${ports.rpc}`,
    '',
    'Accounts. Everybody knows these keys: never use them for anything of value.',
    '',
    ...accounts.flatMap(({ index, address, did: own, privateKey }) => [
      `(${index})  ${address}  ${balance(node, address)} ELA`,
      `     ${own}`,
      `     key ${toHex(privateKey)}`,
    ]),
    '',
    `Mnemonic  ${devnetMnemonic}`,
    "Path      m/44'/0'/0'/0/n",
    '',
    'Next, in another terminal in this directory:',
    '',
    `  npx didledger wallet send --devnet-account 0 --to ${recipient} --amount 12.5${where}`,
    `  npx didledger did create --devnet-account 2${where}`,
    `  npx didledger did resolve ${did}${where}`,
    '',
    'Ctrl-C stops the devnet.',
  ]
  return `${lines.join('\n')}\n`
}

function balance(node: Node, address: string): string {
  return formatAmount(node.reader.balance(parseAddress(address) as ProgramHash).sum)
}

function blockTime(text: string): number {
  if (!/^[1-9][0-9]{0,5}$/.test(text)) throw new InvalidArgumentError('Not a number of seconds from 1 on.')
  return Number(text)
}
