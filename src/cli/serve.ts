import type { ApiContext } from '../api/context.js'
import { loopbackHosts } from '../api/origin.js'
import { type Node, type NodeOptions, startNode } from '../node.js'
import { processLog, systemEnv } from '../system.js'
import type { Log } from '../env.js'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { CliContext } from './context.js'
import { type OutputOptions, withOutput } from './options.js'
import { countTransactions } from './transaction-count.js'
import { packageVersion } from './version.js'

/** Ports above a port base: REST is the base and 4, and so on. */
const portOffsets = { rest: 4, ws: 5, rpc: 6, p2p: 8 } as const
const defaultPortBase = 20330

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

/** The open interfaces of a node. */
export interface Servers {
  readonly ports: { readonly rest: number; readonly rpc: number }
  close(): Promise<void>
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

/** Opens the interfaces of a node. */
async function serve(node: Node, options: ServeOptions, log: Log): Promise<Servers> {
  const port = (offset: number) => (options.portBase === 0 ? 0 : options.portBase + offset)
  const counter = countTransactions(node)
  const ports = { p2p: 0, ws: 0, rest: 0, rpc: 0 }
  const { reader, mempool, resolver, devnet, identity } = node
  const context: ApiContext = {
    reader,
    mempool,
    resolver,
    log,
    ...(devnet === undefined ? {} : { devnet }),
    nodeInfo: () => ({
      compile: packageVersion(),
      id: identity.id,
      version: 1,
      services: 0,
      relay: true,
      transactionCount: counter.total,
      receivedCount: 0,
      ports,
      neighbors: [],
    }),
  }
  // Loading the HTTP server takes longer than all the rest; only commands that serve wait for it.
  const { ApiServer } = await import('../api/server.js')
  const hosts = options.host
  const rest = await ApiServer.open(context, { serves: 'rest', hosts, port: port(portOffsets.rest) })
  const rpc = await ApiServer.open(context, { serves: 'rpc', hosts, port: port(portOffsets.rpc) }).catch(
    async (error: unknown) => {
      await rest.close()
      throw error
    },
  )
  ports.rest = rest.port
  ports.rpc = rpc.port
  return {
    ports,
    close: async () => {
      await Promise.all([rest.close(), rpc.close()])
    },
  }
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
    const servers = await serve(node, options, env.log)
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
