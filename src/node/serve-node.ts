import { resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { ApiContext } from '../answers/api/api-context.js'
import type { NodeHealth, NetworkView } from '../answers/api/node-handles.js'
import { isLoopbackName, loopbackHosts } from '../answers/api/http/origin.js'
import { countTransactions } from '../ledger/mempool/transaction-count.js'
import { networkVersion, servicesOf } from '../network/wire/status-message.js'
import { defined } from '../base/primitives/defined.js'
import type { Log } from '../base/runtime/env.js'
import { packageVersion } from '../base/runtime/package-files.js'
import { RuleError } from '../base/errors/rule-error.js'
import type { NodeTuning } from './options-to-node.js'
import { portOf } from './ports.js'
import type { Node, NodeNetwork } from './node.js'
import { urlHost } from './url-host.js'

export interface ServingOptions {
  readonly log: Log
  /** Port base, addresses, limits of the interfaces, how clients reach them, and pages that a devnet lets in. */
  readonly tuning?: Pick<NodeTuning, 'node' | 'api' | 'devnet'>
  /** Stops the node at its owner's request; absent: that is refused. */
  readonly stop?: () => void
}

/** The open interfaces of a node. */
export interface Servers {
  readonly ports: { readonly rest: number; readonly ws: number; readonly rpc: number; readonly p2p: number }
  /** The metrics, where they have a port of their own. */
  readonly metrics: string | undefined
  /** A host by which this machine reaches the interfaces, as it stands in a URL. */
  readonly host: string
  /** Addresses listened on by which other machines reach them too. */
  readonly openAt: readonly string[]
  close(): Promise<void>
}

/** Loads the modules that {@link serve} needs, of which a caller can make use while a node starts. */
export const loadServing = () => import('./serving-parts.js')

/** Opens the interfaces of a node. A port that is taken is a UserError, and none is left open. */
export async function serve(node: Node, { log, tuning = {}, stop }: ServingOptions): Promise<Servers> {
  const { api = {} } = tuning
  const { hosts = loopbackHosts, metricsHosts } = api
  const port = (name: 'rest' | 'ws' | 'rpc' | 'metrics') => portOf(name, tuning.node?.portBase)
  const counter = countTransactions(node)
  const network = node.network === undefined ? undefined : viewOf(node.network, node.sync)
  const ports = { p2p: network?.port ?? 0, ws: 0, rest: 0, rpc: 0 }
  const {
    reader,
    mempool,
    events,
    resolver,
    devnet,
    mining,
    identity,
    adminToken,
    sync,
    standing,
    chain,
    directory,
    voting,
    backups,
    watch,
    followed,
    follows,
    witness,
    witnessed,
    compareHeads,
  } = node
  let stage: NodeHealth['stage'] = 'starting'
  let failed = false
  node.failure.catch(() => (failed = true))
  // Loading the HTTP server takes longer than all the rest; only who serves waits for it.
  const {
    AllowedOrigins,
    AnswerAdmission,
    apiLimits,
    ApiServer,
    BodyBudget,
    HeightGate,
    KeptAnswers,
    LogEvents,
    NodeMetrics,
    openMetricsPort,
    PageFiles,
    PassedOn,
    SharedAnswers,
    WebSockets,
    WsServer,
  } = await loadServing()
  const version = packageVersion()
  const others = { ...defined({ network, voting }) }
  const { shipping } = node
  const health = (): NodeHealth => {
    const alarm = voting?.status().alarm
    const { stalled, clockOffset } = watch ?? {}
    const best = node.network?.network.sync.beyond.better?.height
    return {
      failed,
      stage,
      sync: sync(),
      standing: standing(),
      ...defined({ best, alarm, stalled, clockOffset, follows: follows?.() }),
    }
  }
  const metrics = new NodeMetrics({
    chain,
    mempool,
    resolver,
    version,
    health,
    databaseBytes: () => directory.databaseBytes(),
    diskSpace: () => directory.space(),
    ...others,
    ...defined({ shipping }),
  })
  const context: ApiContext = {
    reader,
    mempool,
    resolver,
    mining: followed === undefined ? mining : noMining,
    ...(followed && { followed: new PassedOn(followed.api, { genesis: chain.genesis.hash, log }) }),
    adminToken,
    backups,
    log,
    limits: api,
    access: api,
    ...(devnet === undefined ? {} : { allowedOrigins: new AllowedOrigins(tuning.devnet?.allowedOrigins ?? [], log) }),
    sharedAnswers: new SharedAnswers(new AnswerAdmission({ ...apiLimits, ...api })),
    heights: new HeightGate(chain, { ...apiLimits, ...api }),
    bodies: new BodyBudget({ ...apiLimits, ...api }),
    kept: new KeptAnswers({ chain, resolver }, { ...apiLimits, ...api }.answerCache),
    // A command that reads the token there may run in another directory.
    dataDir: resolve(directory.path),
    ...defined({ dereference: api.dereference }),
    metricsApart: metricsHosts !== undefined,
    ...defined({ devnet, stop }),
    ...(devnet && { registrar: devnet.registrar }),
    ...(witness && { witness: witness.heads }),
    ...defined({ witnessed, compareHeads }),
    ...(api.pages === false ? {} : { pages: new PageFiles() }),
    ...others,
    nodeInfo: () => ({
      compile: version,
      id: identity.id,
      version: networkVersion,
      services: network === undefined ? 0 : servicesOf(chain),
      relay: followed === undefined,
      transactionCount: counter.total,
      receivedCount: network?.receivedCount ?? 0,
      ports,
      neighbors: network?.neighbors() ?? [],
    }),
    metrics,
    health,
  }
  const servers: { close(): Promise<void> }[] = []
  const close = async () => {
    const seconds = stage === 'serving' && !failed ? (api.drain ?? 0) : 0
    stage = 'stopping'
    // Balancers ask at intervals, and send requests until they are told.
    if (seconds > 0) await setTimeout(seconds * 1000)
    metrics.close()
    await Promise.all(servers.map((server) => server.close()))
  }
  const opened = async <T extends { port: number; close(): Promise<void> }>(opening: Promise<T>): Promise<number> => {
    const server = await opening
    servers.push(server)
    return server.port
  }
  const sockets = new WebSockets(context, new LogEvents(events), hosts)
  servers.push(sockets)
  let metricsUrl: string | undefined
  let openAt: readonly string[]
  try {
    const rest = ApiServer.open(context, { serves: 'rest', hosts, port: port('rest'), sockets })
    ports.rest = await opened(rest)
    openAt = openOf((await rest).addresses)
    ports.ws = await opened(WsServer.open(context, { hosts, port: port('ws'), sockets }))
    ports.rpc = await opened(ApiServer.open(context, { serves: 'rpc', hosts, port: port('rpc') }))
    if (metricsHosts !== undefined) {
      const own = await opened(openMetricsPort(context, { hosts: metricsHosts, port: port('metrics') }))
      metricsUrl = `http://${urlHost(metricsHosts)}:${own}/metrics`
    }
  } catch (error) {
    await close()
    throw error
  }
  stage = 'serving'
  return { ports, metrics: metricsUrl, host: urlHost(hosts), openAt, close }
}

/** The hosts of bound addresses, `host:port`, that are no loopback: a system reads `127.1`, and its own name, as loopback too. */
function openOf(addresses: readonly string[]): string[] {
  return addresses
    .map((address) => address.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1'))
    .filter((host) => !isLoopbackName(host))
}

/** Block production of a follower. */
const noMining: ApiContext['mining'] = {
  active: false,
  template: () => Promise.reject(followersMine()),
  submit: () => Promise.reject(followersMine()),
  mine: () => Promise.reject(followersMine()),
  toggle: () => {
    throw followersMine()
  },
}

function followersMine(): RuleError {
  return new RuleError('mining-impossible', 'this node follows another, and makes no blocks: ask that one')
}

/** Returns the peers of a node as interfaces see them. */
function viewOf({ network, transport }: NodeNetwork, sync: Node['sync']): NetworkView {
  const { peers } = network
  return {
    port: transport.port,
    get receivedCount() {
      return network.receivedCount
    },
    neighbors: () => peers.neighbors(),
    progress: sync,
    connect: (address) => peers.connect(address),
    disconnect: (id) => peers.disconnect(id),
    listBans: () => peers.listBans(),
    ban: (subject, milliseconds, reason) => peers.ban(subject, milliseconds, reason),
    unban: (subject) => peers.unban(subject),
  }
}
