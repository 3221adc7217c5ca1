import type { Config } from '../config/config.js'
import { serve, type Servers } from '../node/serve-node.js'
import { type Node, type NodeOptions, startNode } from '../node/start-node.js'
import { processLog, systemEnv } from '../runtime/process-env.js'
import { ServiceManager, type ServiceState } from '../runtime/service-manager.js'
import { type SigningState, signingText } from '../voting/signing-state.js'
import type { CliContext } from './cli-context.js'
import type { OutputOptions } from './command-options.js'
import { firstBlockText } from './first-block.js'
import { showMigration, showProgress } from './show-progress.js'
import { endAtOnce, stopSignal } from './stop-signal.js'

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
    ...blocksLine(node),
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

/** When the first block comes, while there is none. */
function blocksLine({ spec, reader }: Node): readonly string[] {
  const first = reader.height > 0 ? undefined : firstBlockText(spec)
  return first === undefined ? [] : [`Blocks    none yet; the first one comes ${first}`]
}

/** What systemd is told of a node that serves. */
function serviceState(node: Node): ServiceState {
  let failed = false
  node.failure.catch(() => (failed = true))
  return {
    healthy: () => !failed,
    status: () => {
      const { stage, height, target } = node.sync()
      const peers = node.network?.network.peers.neighbors().length
      return [
        stage === 'idle' ? `height ${height}` : `${stage}: height ${height} of ${target}`,
        ...(peers === undefined ? [] : [`${peers} peers`]),
        `${node.mempool.size} transactions waiting`,
      ].join(', ')
    },
  }
}

/** Starts a node, opens its interfaces, presents it, and serves until a signal, its owner or a failure of the node ends it. */
export async function runNode(
  context: CliContext,
  config: Config,
  { json, stopOnEof = false }: RunOptions,
  chosen: Omit<NodeOptions, 'env' | 'tuning'>,
  present: (node: Node, servers: Servers) => Presentation | Promise<Presentation>,
): Promise<void> {
  const { tuning } = config
  const env = systemEnv(processLog(tuning.node?.logLevel))
  const stop = stopSignal(stopOnEof)
  const opened = endAtOnce(stop)
  const manager = ServiceManager.of({ env: context.env, timers: env.timers, log: env.log })
  const migration = showMigration(context, env)
  const node = await startNode({ ...chosen, env, tuning, onMigration: migration.show }).finally(migration.end)
  let endProgress = () => {}
  try {
    opened()
    let stopAsked = () => {}
    const asked = new Promise<void>((resolve) => (stopAsked = resolve))
    const servers = await serve(node, { log: env.log, tuning, stop: stopAsked })
    try {
      const { value, lines } = await present(node, servers)
      // One line, so that a script can read it while the node runs.
      context.out(`${json ? JSON.stringify(value) : lines.join('\n')}\n`)
      if (node.network !== undefined) endProgress = showProgress(context, env, () => node.sync())
      manager?.ready(serviceState(node))
      await Promise.race([stop, asked, node.failure])
    } finally {
      endProgress()
      await manager?.stopping()
      await servers.close()
    }
  } finally {
    // A resumed standard input would keep the process alive with nothing left to do.
    if (stopOnEof) process.stdin.pause()
    await node.close()
  }
}
