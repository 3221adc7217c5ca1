import { apiOptions } from '../api/api-options.js'
import type { Config } from '../config/config.js'
import { cryptoOptions } from '../crypto/crypto-options.js'
import { mempoolOptions } from '../mempool/mempool-options.js'
import { poolLimits } from '../mempool/policy.js'
import { nodeOptions } from '../node/node-options.js'
import { serve, type Servers, type ServingOptions } from '../node/serve-node.js'
import { type Node, type NodeOptions, type NodeTuning, startNode } from '../node/start-node.js'
import { resolverOptions } from '../resolver/resolver-options.js'
import { processLog, systemEnv } from '../runtime/process-env.js'
import { storageOptions } from '../storage/storage-options.js'
import { type SigningState, signingText } from '../voting/signing-state.js'
import type { CliContext } from './cli-context.js'
import type { OutputOptions } from './command-options.js'
import { showProgress } from './show-progress.js'

export interface RunOptions extends OutputOptions {
  /** Whether the end of standard input stops the node. */
  readonly stopOnEof?: boolean
}

/** Start output of a node: `value` with --json, else `lines`. */
export interface Presentation {
  readonly value: unknown
  readonly lines: readonly string[]
}

/** The line of a node that starts with `--json`. */
export type NodeStart = ReturnType<typeof startOf>['start']

/** What every node prints at its start. */
export function startOf(node: Node, { ports, host }: Pick<Servers, 'ports' | 'host'>) {
  const start = {
    name: node.spec.name,
    height: node.reader.height,
    genesis: node.chain.genesis.hash,
    dataDir: node.directory.path,
    rest: `http://${host}:${ports.rest}`,
    ws: `ws://${host}:${ports.ws}`,
    rpc: `http://${host}:${ports.rpc}`,
    p2p: node.network?.transport.addresses ?? [],
  }
  const lines = [
    `didledger ${start.name} at height ${start.height}, genesis ${start.genesis}`,
    '',
    `REST      ${start.rest}/api/v1`,
    `WebSocket ${start.ws}`,
    `JSON-RPC  ${start.rpc}`,
    ...start.p2p.map((address) => `P2P       ${address}`),
    ...votesLine(node.voting?.status().signing),
    `Data      ${start.dataDir}`,
  ]
  return { start, lines }
}

/** Whether the key of a node votes; nothing of a node without one. */
function votesLine(signing: SigningState | undefined): readonly string[] {
  if (signing === undefined || signing.kind === 'no-key') return []
  if (signing.kind === 'voting') return ['Votes     yes']
  const elsewhere = signing.kind === 'not-validator'
  const why = elsewhere ? 'the chain spec names other validators for the next block' : signingText(signing)
  return [`Votes     not now: ${why}`]
}

/**
 * Resolves at a stop signal. A second signal ends the process at once: the next start continues from any state on disk. With
 * `onEof` the end of standard input stops it too.
 */
export function stopSignal(onEof = false): Promise<unknown> {
  return new Promise<unknown>((resolve) => {
    let stopping = false
    const onSignal = (signal: NodeJS.Signals) => {
      if (stopping) process.exit(130)
      stopping = true
      resolve(signal)
    }
    process.on('SIGINT', onSignal)
    process.on('SIGTERM', onSignal)
    if (onEof) process.stdin.on('close', resolve).resume()
  })
}

/** Starts a node, opens its interfaces, presents it, and serves until a signal or a failure of the node. */
export async function runNode(
  context: CliContext,
  config: Config,
  { json, stopOnEof = false }: RunOptions,
  chosen: Omit<NodeOptions, 'env' | 'dataDir' | 'tuning'>,
  present: (node: Node, servers: Servers) => Presentation | Promise<Presentation>,
): Promise<void> {
  const env = systemEnv(processLog(config.get(nodeOptions.logLevel)))
  const dataDir = config.get(storageOptions.dataDir)
  const directory = dataDir === undefined ? {} : { dataDir }
  const node = await startNode({ ...chosen, env, tuning: tuningOf(config), ...directory })
  let endProgress = () => {}
  try {
    const stop = stopSignal(stopOnEof)
    const servers = await serve(node, { ...servingOf(config), log: env.log })
    try {
      const { value, lines } = await present(node, servers)
      // One line, so that a script can read it while the node runs.
      context.out(`${json ? JSON.stringify(value) : lines.join('\n')}\n`)
      if (node.network !== undefined) endProgress = showProgress(context, env, () => node.sync())
      await Promise.race([stop, node.failure])
    } finally {
      endProgress()
      await servers.close()
    }
  } finally {
    // A resumed standard input would keep the process alive with nothing left to do.
    if (stopOnEof) process.stdin.pause()
    await node.close()
  }
}

function tuningOf(config: Config): NodeTuning {
  const threads = config.get(cryptoOptions.threads)
  return {
    databaseCache: config.get(storageOptions.cacheSize),
    resolverCache: config.get(resolverOptions.cacheSize),
    queries: {
      waiting: config.get(resolverOptions.queriesWaiting),
      duration: config.get(resolverOptions.queryDuration),
    },
    pool: poolLimits({ size: config.get(mempoolOptions.size), expiry: config.get(mempoolOptions.expiry) }),
    ...(threads === undefined ? {} : { verifierThreads: threads }),
  }
}

function servingOf(config: Config): Omit<ServingOptions, 'log'> {
  const { host, connections, wsConnections, batch, answerCache, rateRequests, rateWindow, rateSparesLoopback } =
    apiOptions
  return {
    portBase: config.get(nodeOptions.portBase),
    hosts: config.get(host),
    access: {
      hostNames: config.get(apiOptions.hostNames),
      trustedProxies: config.get(apiOptions.trustedProxies),
      clientHeader: config.get(apiOptions.clientHeader),
    },
    limits: {
      connections: config.get(connections),
      connectionsPerAddress: config.get(apiOptions.connectionsPerAddress),
      wsConnections: config.get(wsConnections),
      batch: config.get(batch),
      answerCache: config.get(answerCache),
      rateRequests: config.get(rateRequests),
      rateWindow: config.get(rateWindow),
      rateSparesLoopback: config.get(rateSparesLoopback),
    },
  }
}
