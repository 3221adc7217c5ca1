import { loopbackHosts } from '../api/origin.js'
import { type Node, type NodeOptions, startNode } from '../node.js'
import { defaultPortBase, portOffsets, serve, type Servers } from '../serving.js'
import { processLog, systemEnv } from '../system.js'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { CliContext } from './context.js'
import { type OutputOptions, withOutput } from './options.js'

/** What is shown of a node that has started. */
export interface Presentation {
  readonly value: unknown
  readonly lines: readonly string[]
}

export interface ServeOptions extends OutputOptions {
  readonly portBase: number
  readonly host: string[]
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  readonly dataDir?: string
}

export function withServing(command: Command): Command {
  return withOutput(command)
    .addOption(
      new Option('--port-base <n>', 'REST at n + 4, JSON-RPC at n + 6; 0 takes free ports')
        .argParser(portBase)
        .default(defaultPortBase),
    )
    .option('--host <address...>', 'addresses to listen on', [...loopbackHosts])
    .option('--data-dir <directory>', 'where to keep the chain; a temporary directory when absent')
    .addOption(
      new Option('--log-level <level>', 'what to log on standard error')
        .choices(['debug', 'info', 'warn', 'error', 'silent'])
        .default('warn'),
    )
}

/** What every node says of itself at its start. */
export function startOf(node: Node, ports: Servers['ports']) {
  const start = {
    name: node.spec.name,
    height: node.reader.height,
    genesis: node.chain.genesis.hash,
    dataDir: node.directory.path,
    rest: `http://127.0.0.1:${ports.rest}`,
    rpc: `http://127.0.0.1:${ports.rpc}`,
  }
  const lines = [
    `didledger ${start.name} at height ${start.height}, genesis ${start.genesis}`,
    '',
    `REST      ${start.rest}/api/v1`,
    `JSON-RPC  ${start.rpc}`,
    `Data      ${start.dataDir}`,
  ]
  return { start, lines }
}

/**
 * Resolves when the process is told to stop. A second signal ends it at once: whatever is on disk then is a state that
 * the next start takes up.
 */
function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let stopping = false
    const onSignal = (signal: NodeJS.Signals) => {
      if (stopping) process.exit(130)
      stopping = true
      resolve(signal)
    }
    process.on('SIGINT', onSignal)
    process.on('SIGTERM', onSignal)
  })
}

/** Starts a node, opens its interfaces, presents it, and serves until a signal or a failure of the node. */
export async function runNode(
  context: CliContext,
  options: ServeOptions,
  nodeOptions: Omit<NodeOptions, 'env' | 'dataDir'>,
  present: (node: Node, ports: Servers['ports']) => Presentation | Promise<Presentation>,
): Promise<void> {
  const env = systemEnv(processLog(options.logLevel))
  const dataDir = options.dataDir === undefined ? {} : { dataDir: options.dataDir }
  const node = await startNode({ ...nodeOptions, env, ...dataDir })
  try {
    const stop = stopSignal()
    const servers = await serve(node, { portBase: options.portBase, hosts: options.host, log: env.log })
    try {
      const { value, lines } = await present(node, servers.ports)
      // One line, so that a script can read it while the node goes on.
      context.out(`${options.json ? JSON.stringify(value) : lines.join('\n')}\n`)
      await Promise.race([stop, node.failure])
    } finally {
      await servers.close()
    }
  } finally {
    await node.close()
  }
}

function portBase(text: string): number {
  const most = 65535 - portOffsets.p2p
  if (!/^(0|[1-9][0-9]{0,4})$/.test(text) || Number(text) > most) {
    throw new InvalidArgumentError(`Not a port from 0 to ${most}.`)
  }
  return Number(text)
}
