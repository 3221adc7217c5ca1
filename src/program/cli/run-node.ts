import type { Config } from '../../node/config/config.js'
import { followedNode } from '../../node/followed-node.js'
import { loadServing } from '../../node/serving/open-ports.js'
import { serve, type Servers } from '../../node/serving/serve-node.js'
import { joinUnits } from '../../node/taken-state.js'
import { type Node, type NodeOptions, type StartStep, startUnits } from '../../node/node.js'
import { startNode } from '../../node/start-node.js'
import { durationText } from '../console/progress-text.js'
import { Progress, type Step } from '../console/progress.js'
import { showStatus } from '../console/node-status.js'
import { watchNode } from '../console/watch-node.js'
import { ResourceStack } from '../../base/runtime/resource-stack.js'
import type { Env, Log } from '../../base/runtime/env.js'
import { genesisBlock } from '../../base/primitives/genesis.js'
import { defined } from '../../base/primitives/defined.js'
import { packageVersion } from '../../base/runtime/package-files.js'
import { systemEnv } from '../../base/runtime/process-env.js'
import { ServiceManager, type ServiceState } from '../../base/runtime/service-manager.js'
import { type SigningState, signingText } from '../../voting/signing-state.js'
import type { CliContext } from './cli-context.js'
import type { QuietOptions } from './command-options.js'
import { firstBlockText } from './first-block.js'
import { openLog, type OpenLog } from './open-log.js'
import { announce } from './print-output.js'
import { StoppableStart, stopSignal } from './stop-signal.js'

export interface RunOptions extends QuietOptions {
  /** Whether the end of standard input stops the node. */
  readonly stopOnEof?: boolean
}

/** Options that a command chooses beside the settings of a node. */
interface ChosenOptions extends Omit<NodeOptions, 'env' | 'tuning' | 'onStep' | 'followed'> {
  /** The node to follow, as its owner names it. */
  readonly follow?: string
}

/** Start output of a node: `value` with --json, else `lines`. */
export interface Presentation {
  readonly value: unknown
  readonly lines: readonly string[]
}

/** The line of a node that starts with `--json`. */
export type NodeStart = ReturnType<typeof startOf>['start']

/** Values that every node prints at its start. */
export function startOf(
  node: Node,
  { ports, metrics, host, openAt }: Pick<Servers, 'ports' | 'metrics' | 'host' | 'openAt'>,
) {
  const start = {
    name: node.spec.name,
    height: node.reader.height,
    genesis: node.chain.genesis.hash,
    dataDir: node.directory.path,
    rest: `http://${host}:${ports.rest}`,
    ws: `ws://${host}:${ports.ws}`,
    rpc: `http://${host}:${ports.rpc}`,
    ...defined({ metrics }),
    p2p: node.network?.transport.addresses ?? [],
  }
  const lines = [
    `didledger ${start.name} at height ${start.height}, genesis ${start.genesis}`,
    '',
    `REST      ${start.rest}/api/v1`,
    `WebSocket ${start.ws}`,
    `JSON-RPC  ${start.rpc}`,
    ...(metrics === undefined ? [] : [`Metrics   ${metrics}`]),
    ...(openAt.length > 0 ? [`Open      to other machines too, at ${openAt.join(', ')}`] : []),
    ...start.p2p.map((address) => `P2P       ${address}`),
    ...(node.followed === undefined ? [] : [`Follows   ${node.followed.api}, by its peers at ${node.followed.peer}`]),
    ...(node.mirror === undefined ? [] : [`Mirror    ${node.mirror.place}`]),
    ...votesLine(node.voting?.status().signing, node.reader.height),
    ...blocksLine(node),
    `Data      ${start.dataDir}`,
  ]
  return { start, lines }
}

/** Whether the key of a node votes; nothing of a node without one. */
function votesLine(signing: SigningState | undefined, height: number): readonly string[] {
  if (signing === undefined || signing.kind === 'no-key') return []
  if (signing.kind === 'voting') return ['Votes     yes']
  const elsewhere = signing.kind === 'not-validator'
  const why = elsewhere ? 'the chain spec names other validators for the next block' : signingText(signing)
  // That is right, and cannot be helped by a reset.
  const behind = `. The chain here is at height ${height}: it catches up from peers that have more, or from a newer backup`
  return [`Votes     not now: ${why}${signing.kind === 'signed-above' ? behind : ''}`]
}

/** When the first block comes, while there is none. */
function blocksLine({ spec, reader }: Node): readonly string[] {
  const first = reader.height > 0 ? undefined : firstBlockText(spec)
  return first === undefined ? [] : [`Blocks    none yet; the first one comes ${first}`]
}

/** State of a serving node for systemd. */
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
  options: RunOptions,
  chosen: ChosenOptions,
  present: (node: Node, servers: Servers) => Presentation | Promise<Presentation>,
): Promise<void> {
  const { tuning } = config
  const opened = openLog(context, tuning.node ?? {}, options, chosen.spec.devnet)
  const { log } = opened
  const env = systemEnv(log)
  const stack = new ResourceStack()
  stack.defer(() => opened.close())
  try {
    const stop = stopOf(config, options, stack)
    const manager = ServiceManager.of({ env: context.env, timers: env.timers, log })
    const node = await openedNode({ context, config, opened, env, stop }, chosen)
    const serves = closeLater(node, env, stack)
    let stopAsked = () => {}
    const asked = new Promise<'its owner'>((resolve) => (stopAsked = () => resolve('its owner')))
    const servers = await serve(node, { log, tuning, stop: stopAsked })
    stack.defer(() => servers.close())
    const { value, lines } = await present(node, servers)
    announce(context, options, value, lines)
    sayStarted(log, node, servers)
    serves()
    showLater(node, opened, env, stack)
    if (manager !== undefined) stack.defer(() => manager.stopping())
    manager?.ready(serviceState(node))
    const cause = await Promise.race([stop, asked, node.failure])
    sayOfNode(log, `stopping: ${cause}`, { event: 'stopping', cause })
  } finally {
    await stack.close()
  }
}

/** Resolves at a signal, or at the end of standard input where that stops the node. */
function stopOf(
  { tuning }: Config,
  { stopOnEof = false }: RunOptions,
  stack: ResourceStack,
): ReturnType<typeof stopSignal> {
  // With a file, a hangup asks for it to be opened again.
  const stop = stopSignal({ onEof: stopOnEof, onHangup: tuning.node?.logFile === undefined })
  // A resumed standard input would keep the process alive with nothing left to do.
  if (stopOnEof) stack.defer(() => process.stdin.pause())
  return stop
}

/** Surroundings in which a node starts. */
interface Start {
  readonly context: CliContext
  readonly config: Config
  readonly opened: OpenLog
  readonly env: Env
  /** Ends the start, or the run. */
  readonly stop: ReturnType<typeof stopSignal>
}

/** Starts a node, with its progress shown, unless it is told to stop before. */
async function openedNode(
  { context, config: { tuning }, opened, env, stop }: Start,
  { follow, ...chosen }: ChosenOptions,
): Promise<Node> {
  const start = new StoppableStart(stop)
  const progress = startProgress(opened)
  const { hash: genesis } = genesisBlock(chosen.spec)
  const followed = follow === undefined ? undefined : await followedNode(follow, genesis, opened.log)
  const starting = startNode({
    ...chosen,
    ...defined({ followed }),
    variables: context.env,
    env,
    tuning,
    onStep: (step) => {
      start.step({ closes: !(step.stage in stepsBefore) })
      progress.show(step)
    },
  }).finally(progress.end)
  // Modules are loaded while the store waits for the disk. A start that fails meanwhile is reported below.
  starting.catch(() => {})
  await loadServing()
  return start.finish(starting)
}

/** Closes a node with the stack. The result is to be called once it serves: a node that never did has not stopped. */
function closeLater(node: Node, { clock, log }: Env, stack: ResourceStack): () => void {
  let since: number | undefined
  stack.defer(async () => {
    await node.close()
    if (since === undefined) return
    const { height } = node.chain.tip.header
    const seconds = Math.round((clock.now() - since) / 1000)
    const text = `stopped at height ${height} after ${durationText(seconds)}`
    sayOfNode(log, text, { event: 'stopped', height, seconds })
  })
  return () => (since = clock.now())
}

/** Shows what becomes of a node, until the stack is closed. */
function showLater(node: Node, { log, console, json, quiet }: OpenLog, env: Env, stack: ResourceStack): void {
  stack.defer(watchNode(node, env))
  const terminal = console?.isTerminal === true ? console : undefined
  stack.defer(showStatus({ node, log, timers: env.timers, terminal, warns: json && !quiet }))
}

/** Stages before the database is open; a join that is ended at once continues where it was. */
const stepsBefore = { ...joinUnits, files: true }

/** Log messages of the stages of the opening. */
const stageMessages: Readonly<Record<StartStep['stage'], string>> = {
  joining: 'the state is being checked, and its rows made',
  files: 'the files of the database are being checked',
  map: 'the map of DIDs, to which blocks commit, is being made',
  days: 'the blocks of each day are being counted',
  blocks: 'the last blocks are being checked',
  pool: 'the transactions of the pool are being checked again',
  state: 'the blocks of the state file are being connected',
  dids: 'DIDs are being registered',
}

/** Progress of the start: on the terminal, else as lines of the log. */
function startProgress({ log, console, quiet }: OpenLog) {
  const progress = new Progress<StartStep & Step>(console, ({ stage, done, total }) => {
    if (!quiet) log.warn({ done, total }, stageMessages[stage])
  })
  return {
    show: (step: StartStep) => progress.show({ ...step, unit: startUnits[step.stage] }),
    end: () => progress.end(),
  }
}

function sayStarted(log: Log, { spec, chain }: Node, { host, ports }: Servers): void {
  const { height } = chain.tip.header
  const version = packageVersion()
  sayOfNode(log, `didledger ${version} serves ${spec.name} from height ${height}, REST at ${host}:${ports.rest}`, {
    ...{ event: 'started', version, node: process.version, chain: spec.name, height },
  })
}

function sayOfNode({ live }: Log, text: string, fields: Readonly<Record<string, unknown>>): void {
  if (live?.wants('node') === true) live.write('node', { text, fields })
}
