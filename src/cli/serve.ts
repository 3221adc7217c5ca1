import { ApiServer, loopbackHosts } from '../api/server.js'
import type { ApiContext } from '../api/context.js'
import type { Node } from '../node.js'
import { processLog, systemEnv } from '../system.js'
import type { Env, Log } from '../env.js'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { packageVersion } from './version.js'

/** Ports above a port base: REST is the base and 4, and so on. */
const portOffsets = { rest: 4, ws: 5, rpc: 6, p2p: 8 } as const
const defaultPortBase = 20330

export interface ServeOptions {
  readonly portBase: number
  readonly host: string[]
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  readonly dataDir?: string
}

export function withServing(command: Command): Command {
  return command
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

/** A node's world, logging as asked. */
export function serveEnv(options: ServeOptions): Env {
  return systemEnv(processLog(options.logLevel))
}

/** The open interfaces of a node. */
export interface Servers {
  readonly ports: { readonly rest: number; readonly rpc: number }
  close(): Promise<void>
}

/** Opens the interfaces of a node. */
export async function serve(node: Node, options: ServeOptions, log: Log): Promise<Servers> {
  const port = (offset: number) => (options.portBase === 0 ? 0 : options.portBase + offset)
  const counters = countTransactions(node)
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
      transactionCount: counters.total,
      receivedCount: 0,
      ports,
      neighbors: [],
    }),
  }
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

/** How many transactions the node has seen since its start: accepted into the pool, or first seen in a block. */
function countTransactions({ chain, mempool }: Node): { readonly total: number } {
  const counters = { total: 0 }
  mempool.events.on('accepted', () => counters.total++)
  chain.events.on('change', ({ connected }) => {
    for (const { block } of connected) counters.total += block.transactions.filter((tx) => tx.isCoinbase).length
  })
  return counters
}

/**
 * Resolves when the process is told to stop. A second signal ends it at once: whatever is on disk then is a state that
 * the next start takes up.
 */
export function stopSignal(): Promise<NodeJS.Signals> {
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

/** Serves until a signal or a failure of the node, then closes everything in order. */
export async function runUntilStopped(node: Node, servers: Servers): Promise<void> {
  try {
    await Promise.race([stopSignal(), node.failure])
  } finally {
    await servers.close()
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
