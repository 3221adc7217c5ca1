import { join } from 'node:path'
import { NodeClient } from '../../clients/client/node-client.js'
import { optionsOf, variableOf } from '../../node/config/all-options.js'
import type { Config } from '../../node/config/config.js'
import type { Console } from '../console/console.js'
import { devnetOptions } from '../../node/devnet/devnet-options.js'
import { UserError } from '../../base/errors/rule-error.js'
import { nodeOptions } from '../../node/node-options.js'
import { defaultPortBase } from '../../node/ports.js'
import { formatAmount } from '../../base/primitives/amount.js'
import type { Option } from '../../base/runtime/option.js'
import { quorum } from '../../base/primitives/spec.js'
import { storageOptions } from '../../ledger/storage/storage-options.js'
import { makeTemporaryDirectory, removeTemporaryDirectory } from '../../ledger/storage/temporary-directory.js'
import {
  devnetAccount,
  devnetAccountCount,
  devnetMnemonic,
  localnetValidatorCount,
} from '../../clients/wallet/devnet-accounts.js'
import type { CliContext } from './cli-context.js'
import type { QuietOptions } from './command-options.js'
import { accountJson, accountLines } from './devnet-account-table.js'
import { commandsFor } from './devnet-next.js'
import { firstBlockText } from './first-block.js'
import { loadSpec } from './load-spec.js'
import { LocalNetwork, portStep } from './local-network.js'
import { openConsole } from './open-log.js'
import { StatusScreen } from './local-status.js'
import { announce, shellWord } from './print-output.js'
import type { NodeStart, Presentation } from './run-node.js'
import { stopSignal } from './stop-signal.js'

const chain = 'localnet'
const highestPortBase = nodeOptions.portBase.schema['maximum'] as number

/** `didledger devnet --nodes N`: runs N nodes of localnet until a stop signal, and shows their status. */
export async function runLocalNetwork(
  context: CliContext,
  config: Config,
  options: QuietOptions,
  nodes: number,
): Promise<void> {
  const { json = false } = options
  refuseOptionsOfOneNode(config)
  const portBase = config.get(nodeOptions.portBase)
  if (portBase !== 0 && portBase + (nodes - 1) * portStep > highestPortBase) {
    throw new UserError(`node.portBase (${config.sourceOf(nodeOptions.portBase)}) leaves no ports for node ${nodes}`, 2)
  }
  const chosen = config.get(storageOptions.dataDir)
  const directory = chosen ?? makeTemporaryDirectory()
  const network = new LocalNetwork({ nodes, directory, portBase, env: environmentOf(config, context) })
  const console = openConsole(context, options)
  network.onProgress = startProgress(console, nodes)
  const endProgress = () => {
    network.onProgress = () => {}
    console?.close()
  }
  const screen = new StatusScreen(context, json, () => network.nodes)
  network.onSlowStop = (numbers) => {
    screen.say([`Waiting for node ${numbers.join(', ')} to stop; Ctrl-C again ends it.`])
  }
  // A second signal ends this process at once; only synchronous work is possible then. Before the directory is cleared no node may write to it.
  const onExit = () => network.kill()
  process.prependOnceListener('exit', onExit)
  const stop = stopSignal()
  try {
    // A stop signal during the start does not wait for the nodes.
    const started = await Promise.race([network.start().then(() => true), stop.then(() => false)]).finally(() =>
      endProgress(),
    )
    if (!started) return
    const { value, lines } = await welcome(
      network.nodes.map(({ start }) => start),
      { directory, temporary: chosen === undefined, joinAt: portBaseToJoin(portBase) },
    )
    announce(context, options, value, lines)
    const allEnded = new Promise<never>((_, reject) => {
      network.onEnd = (number, how, log) => {
        screen.say([
          `Node ${number} ended with ${how}. The last lines of its log:`,
          ...log.map((line) => `  ${line}`),
          '',
        ])
        if (network.nodes.every(({ ended }) => ended !== undefined)) reject(new UserError('no node is left'))
      }
    })
    const shown = screen.start()
    try {
      await Promise.race([stop, allEnded])
    } finally {
      screen.stop()
      await shown
    }
  } finally {
    await network.close()
    if (chosen === undefined) await removeTemporaryDirectory(directory)
    process.off('exit', onExit)
    if (!json) context.out('All nodes have stopped.\n')
  }
}

/** Shows which nodes have started and which serve: one status line on a terminal, elsewhere one line each. */
function startProgress(console: Console | undefined, nodes: number): LocalNetwork['onProgress'] {
  const states = new Map<number, string>()
  return (number, state) => {
    states.set(number, state)
    const text = `Node ${number} of ${nodes} ${state === 'ready' ? 'is ready' : 'has started'}.`
    if (console?.isTerminal !== true) {
      console?.line(text)
      return
    }
    const ready = [...states.values()].filter((one) => one === 'ready').length
    console.status(`Starting: ${ready} of ${nodes} nodes are ready. ${text}`)
  }
}

/** Refuses the other options of a devnet, and one file of a log: only a devnet of one node has these. */
function refuseOptionsOfOneNode(config: Config): void {
  const ofOne = Object.values<Option>(devnetOptions).filter(({ key }) => key !== devnetOptions.nodes.key)
  for (const option of [...ofOne, nodeOptions.logFile]) {
    const entry = config.settings.find(({ option: { key } }) => key === option.key)
    if (entry?.origin === 'default') continue
    throw new UserError(
      `${option.key} (${config.sourceOf(option)}) is for a devnet of one node, not with devnet.nodes`,
      2,
    )
  }
}

/** Environment of the nodes: that of this process, and this command's options that the nodes have too. */
function environmentOf(config: Config, { env }: CliContext): NodeJS.ProcessEnv {
  // A node of several is not the service, if this process is one.
  const inherited = Object.entries(env).filter(([name]) => !/^(DIDLEDGER_|NOTIFY_SOCKET$|WATCHDOG_)/.test(name))
  const own: readonly string[] = [nodeOptions.portBase.key, storageOptions.dataDir.key]
  const shared = new Set<string>(optionsOf('start').map(({ key }) => key))
  const given = config.settings.filter(
    ({ option: { key }, origin }) => origin !== 'default' && shared.has(key) && !own.includes(key),
  )
  return Object.fromEntries([
    ...inherited,
    ...given.map(({ option, value }) => [variableOf(option), Array.isArray(value) ? value.join(',') : String(value)]),
  ])
}

/** Port base for a further node: above the ports of all possible nodes, if there are ports left. */
export function portBaseToJoin(portBase: number): number {
  const above = (portBase === 0 ? defaultPortBase : portBase) + localnetValidatorCount * portStep
  return above > highestPortBase ? defaultPortBase + localnetValidatorCount * portStep : above
}

/** The status of a DID that does not exist. */
const noDid = 3

/** Facts of a node for people to read; undefined where it cannot tell them now, as one that waits for blocks of others. */
async function told<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof UserError) return undefined
    throw error
  }
}

/** Text and values for the moment when all nodes serve. A node that cannot be asked for accounts and hints has none shown. */
export async function welcome(
  nodes: readonly NodeStart[],
  {
    directory,
    temporary,
    joinAt,
  }: { readonly directory: string; readonly temporary: boolean; readonly joinAt: number },
): Promise<Presentation> {
  const [first] = nodes as [NodeStart, ...NodeStart[]]
  const client = new NodeClient({ rest: first.rest })
  const balances = await told(() =>
    Promise.all(Array.from({ length: devnetAccountCount }, (_, index) => client.balance(devnetAccount(index).address))),
  )
  const accounts = Array.from({ length: devnetAccountCount }, (_, index) => {
    const balance = balances?.[index]
    return { ...devnetAccount(index), ...(balance === undefined ? {} : { balance: formatAmount(balance) }) }
  })
  const port = (url: string) => Number(new URL(url).port)
  const facts = {
    balance: (address: string) => client.balance(address),
    status: async (did: string) => (first.height === 0 ? noDid : (await client.resolve(did)).status),
    pending: new Set<string>(),
  }
  const at = { rest: port(first.rest), rpc: port(first.rpc), genesis: chain }
  const next = (await told(() => commandsFor(facts, accounts, at))) ?? []
  const needed = quorum(localnetValidatorCount)
  // Where the network keeps its own: a chain that outlives it would contradict the next one.
  const dataDir = shellWord(join(directory, 'follower'))
  const joining = `npx didledger start --genesis ${chain} --data-dir ${dataDir} --port-base ${joinAt} --p2p-host 127.0.0.1`
  const lines = [
    `didledger ${first.name} of ${nodes.length} nodes at height ${first.height}, genesis ${first.genesis}`,
    '',
    ...nodes.flatMap(({ rest, ws, rpc, p2p }, i) => [
      `Node ${i + 1}    ${rest}/api/v1  ${ws}  ${rpc}`,
      ...p2p.map((address) => `          ${address}`),
    ]),
    `Data      ${directory}`,
    ...(temporary ? ['          (temporary: it goes when the nodes end; --data-dir keeps it)'] : []),
    ...(first.height === 0 && nodes.length >= needed
      ? [`Blocks    none yet; the first one comes ${firstBlockText(loadSpec(chain))}`]
      : []),
    ...(nodes.length < needed
      ? ['', `There are no blocks: it takes ${needed} of the ${localnetValidatorCount} validators to confirm one.`]
      : []),
    '',
    ...accountLines(accounts),
    '',
    'Next, in another terminal in this directory:',
    '',
    ...next.map((command) => `  ${command}`),
    `  ${joining} --peer ${first.p2p[0]}`,
    '',
    'Ctrl-C stops all nodes.',
    '',
  ]
  const { name, genesis, height } = first
  const value = {
    ...{ name, genesis, height, dataDir: directory },
    nodes,
    mnemonic: devnetMnemonic,
    accounts: accounts.map(accountJson),
  }
  return { value, lines }
}
