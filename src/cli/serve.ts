import { apiOptions } from '../api/options.js'
import type { Config } from '../config/config.js'
import { nodeOptions } from '../config/options.js'
import { cryptoOptions } from '../crypto/options.js'
import { mempoolOptions } from '../mempool/options.js'
import { poolLimits } from '../mempool/policy.js'
import { type Node, type NodeOptions, type NodeTuning, startNode } from '../node.js'
import { resolverOptions } from '../resolver/options.js'
import { serve, type Servers, type ServingOptions } from '../serving.js'
import { storageOptions } from '../storage/options.js'
import { processLog, systemEnv } from '../system.js'
import type { CliContext } from './context.js'
import type { OutputOptions } from './options.js'

/** What is shown of a node that has started. */
export interface Presentation {
  readonly value: unknown
  readonly lines: readonly string[]
}

/** What every node says of itself at its start. */
export function startOf(node: Node, ports: Servers['ports']) {
  const start = {
    name: node.spec.name,
    height: node.reader.height,
    genesis: node.chain.genesis.hash,
    dataDir: node.directory.path,
    rest: `http://127.0.0.1:${ports.rest}`,
    ws: `ws://127.0.0.1:${ports.ws}`,
    rpc: `http://127.0.0.1:${ports.rpc}`,
  }
  const lines = [
    `didledger ${start.name} at height ${start.height}, genesis ${start.genesis}`,
    '',
    `REST      ${start.rest}/api/v1`,
    `WebSocket ${start.ws}`,
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
  config: Config,
  { json }: OutputOptions,
  chosen: Omit<NodeOptions, 'env' | 'dataDir' | 'tuning'>,
  present: (node: Node, ports: Servers['ports']) => Presentation | Promise<Presentation>,
): Promise<void> {
  const env = systemEnv(processLog(config.get(nodeOptions.logLevel)))
  const dataDir = config.get(storageOptions.dataDir)
  const place = dataDir === undefined ? {} : { dataDir }
  const node = await startNode({ ...chosen, env, tuning: tuningOf(config), ...place })
  try {
    const stop = stopSignal()
    const servers = await serve(node, { ...servingOf(config), log: env.log })
    try {
      const { value, lines } = await present(node, servers.ports)
      // One line, so that a script can read it while the node goes on.
      context.out(`${json ? JSON.stringify(value) : lines.join('\n')}\n`)
      await Promise.race([stop, node.failure])
    } finally {
      await servers.close()
    }
  } finally {
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
    limits: {
      connections: config.get(connections),
      wsConnections: config.get(wsConnections),
      batch: config.get(batch),
      answerCache: config.get(answerCache),
      rateRequests: config.get(rateRequests),
      rateWindow: config.get(rateWindow),
      rateSparesLoopback: config.get(rateSparesLoopback),
    },
  }
}
