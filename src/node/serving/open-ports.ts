import { setTimeout } from 'node:timers/promises'
import type { ApiContext } from '../../answers/api/api-context.js'
import { isLoopbackName, loopbackHosts } from '../../answers/api/http/origin.js'
import type { NodeHealth } from '../../answers/api/node-handles.js'
import type { EventSource } from '../../answers/api/ws/event-source.js'
import { defined } from '../../base/primitives/defined.js'
import type { NodeTuning } from '../options-to-node.js'
import { portOf } from '../ports.js'
import { urlHost } from '../url-host.js'

/** Loads the modules that the interfaces need, of which a caller can make use while a node starts. */
export const loadServing = () => import('./serving-parts.js')

/** How far the interfaces of a node or gateway are. */
export interface ServingLife {
  stage: NodeHealth['stage']
  failed: boolean
}

/** Parts of a context that a node and a gateway make alike. */
export type SharedParts = Pick<
  ApiContext,
  'log' | 'limits' | 'access' | 'bodies' | 'dereference' | 'kept' | 'metricsApart' | 'pages' | 'sharedAnswers'
> &
  Required<Pick<ApiContext, 'heights'>>

/** Makes what all interfaces of a node or gateway share, and gives them their limits. */
export async function openShared(
  { reader: { chain }, resolver, log }: Pick<ApiContext, 'reader' | 'resolver' | 'log'>,
  api: NonNullable<NodeTuning['api']>,
): Promise<SharedParts> {
  const { AnswerAdmission, apiLimits, BodyBudget, HeightGate, KeptAnswers, PageFiles, SharedAnswers } =
    await loadServing()
  const limits = { ...apiLimits, ...api }
  return {
    ...{ log, limits: api, access: api },
    sharedAnswers: new SharedAnswers(new AnswerAdmission(limits)),
    heights: new HeightGate(chain, limits),
    bodies: new BodyBudget(limits),
    kept: new KeptAnswers({ chain, resolver }, limits.answerCache),
    metricsApart: api.metricsHosts !== undefined,
    ...defined({ dereference: api.dereference, pages: api.pages === false ? undefined : new PageFiles() }),
  }
}

/** The ports of HTTP and WebSockets; 0: not open yet. */
export interface ServedPorts {
  rest: number
  ws: number
  rpc: number
}

export interface OpenPorts {
  /** URL of the metrics, where they have a port of their own. */
  readonly metrics: string | undefined
  /** A host by which this machine reaches the interfaces, as it stands in a URL. */
  readonly host: string
  /** Addresses listened on by which other machines reach them too. */
  readonly openAt: readonly string[]
  close(): Promise<void>
}

export interface PortsOptions {
  readonly tuning: Pick<NodeTuning, 'node' | 'api'>
  /** Follows the interfaces from their start to their end. */
  readonly life: ServingLife
  /** Filled in as ports are opened. */
  readonly ports: ServedPorts
}

/** Opens the interfaces of a node or gateway, with whose end its metrics end. A port that is taken is a UserError, and none is left open. */
export async function openPorts(context: ApiContext, events: EventSource, options: PortsOptions): Promise<OpenPorts> {
  const { tuning, life, ports } = options
  const { ApiServer, openMetricsPort, WebSockets, WsServer } = await loadServing()
  const { hosts = loopbackHosts, metricsHosts, drain = 0 } = tuning.api ?? {}
  const at = (name: 'rest' | 'ws' | 'rpc' | 'metrics') => ({ hosts, port: portOf(name, tuning.node?.portBase) })
  const sockets = new WebSockets(context, events, hosts)
  // All are closed at once: a port waits for the connections of its WebSockets.
  const servers: { close(): Promise<void> }[] = [sockets]
  const opened = async <T extends { close(): Promise<void> }>(opening: Promise<T>): Promise<T> => {
    const server = await opening
    servers.push(server)
    return server
  }
  const close = async () => {
    const serves = life.stage === 'serving' && !life.failed
    life.stage = 'stopping'
    // Balancers ask at intervals, and send requests until they are told.
    if (serves && drain > 0) await setTimeout(drain * 1000)
    await Promise.all(servers.map((server) => server.close()))
    context.metrics.close()
  }
  try {
    const rest = await opened(ApiServer.open(context, { ...at('rest'), serves: 'rest', sockets }))
    ports.rest = rest.port
    ports.ws = (await opened(WsServer.open(context, { ...at('ws'), sockets }))).port
    ports.rpc = (await opened(ApiServer.open(context, { ...at('rpc'), serves: 'rpc' }))).port
    let metrics: string | undefined
    if (metricsHosts !== undefined) {
      const { port } = await opened(openMetricsPort(context, { ...at('metrics'), hosts: metricsHosts }))
      metrics = `http://${urlHost(metricsHosts)}:${port}/metrics`
    }
    life.stage = 'serving'
    return { metrics, host: urlHost(hosts), openAt: openOf(rest.addresses), close }
  } catch (error) {
    await close()
    throw error
  }
}

/** The hosts of bound addresses, `host:port`, that are no loopback: a system reads `127.1`, and its own name, as loopback too. */
function openOf(addresses: readonly string[]): string[] {
  return addresses
    .map((address) => address.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1'))
    .filter((host) => !isLoopbackName(host))
}
