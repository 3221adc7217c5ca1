/**
 * Serves the answers of a node from its rows in another engine. Any number of gateways stand beside each other: they keep nothing.
 *
 *   engine -> EngineRows (ledger/engine) -> EngineChain: tip, headers, clock
 *          -> Resolver, ChainReader, Prover: the code of a node, over these rows
 *          -> ApiServer, WebSockets; what needs a pool, peers or votes, and events -> BehindGateway -> a node
 *
 * Imports consensus, node, errors, primitives, runtime, crypto, proofs, did, light, chain, engine, storage, resolver, api; used by cli.
 * - Bodies of answers are those of a node at the same tip.
 * - Nothing is written: neither rows nor files.
 */
import { setTimeout } from 'node:timers/promises'
import type { ApiContext } from '../../answers/api/api-context.js'
import { NeedsNode } from '../../answers/api/http/needs-node.js'
import { loopbackHosts } from '../../answers/api/http/origin.js'
import type { NodeHealth } from '../../answers/api/node-handles.js'
import { Resolver } from '../../answers/resolver/resolver.js'
import { staleAfterDefault } from '../../answers/resolver/resolver-options.js'
import { defined } from '../../base/primitives/defined.js'
import type { Spec } from '../../base/primitives/spec.js'
import type { Clock, Env } from '../../base/runtime/env.js'
import { packageVersion } from '../../base/runtime/package-files.js'
import { ResourceStack } from '../../base/runtime/resource-stack.js'
import { ChainReader } from '../../ledger/chain/reader.js'
import { EngineRows } from '../../ledger/engine/engine-rows.js'
import type { RowEngine } from '../../ledger/engine/row-engine.js'
import { chainProver } from '../chain-prover.js'
import type { NodeTuning } from '../options-to-node.js'
import { portOf } from '../ports.js'
import { urlHost } from '../url-host.js'
import { AskedNodes } from './asked-nodes.js'
import { refused, requireOwnShards } from './check-shards.js'
import { EngineChain } from './engine-chain.js'
import { progressOf, standingOf } from './gateway-standing.js'
import { OwnProofs, type OwnProofsOptions } from './own-proofs.js'
import { headsElsewhere, infoOfElsewhere, lackingParts } from './node-parts.js'

export interface GatewayOptions {
  readonly spec: Spec
  /** Closed with the gateway. */
  readonly engine: RowEngine
  readonly env: Env
  /** Base URLs of the REST ports of nodes. */
  readonly nodes: readonly string[]
  /** Bytes of rows in memory. */
  readonly rows?: number
  /** Whether some of its own answers are checked by their proofs. */
  readonly verifyOwn?: boolean
  /** Number of answers of which one is checked; for tests. */
  readonly verifyEvery?: number
  /** A clock that is never set, beside the timers; absent: that of the process. */
  readonly steady?: Clock
  readonly tuning?: Pick<NodeTuning, 'node' | 'api' | 'resolver'>
}

/** A gateway that serves. */
export interface Gateway {
  readonly chain: EngineChain
  readonly ports: { readonly rest: number; readonly ws: number; readonly rpc: number }
  /** A host by which this machine reaches them, as it stands in a URL. */
  readonly host: string
  /** Rejects with a UserError when an answer of its own does not hold. */
  readonly failure: Promise<never>
  close(): Promise<void>
}

/** Opens a gateway and its interfaces. A UserError where the shards are none of this chain, or a port is taken. */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const stack = new ResourceStack()
  try {
    return await open(options, stack)
  } catch (error) {
    await stack.close()
    throw error
  }
}

async function open(options: GatewayOptions, stack: ResourceStack): Promise<Gateway> {
  const { spec, engine, rows: bytes, tuning = {} } = options
  stack.defer(() => engine.close())
  await requireOwnShards(engine, spec)
  const rows = await EngineRows.open({ engine, log: options.env.log, ...defined({ bytes }) }).catch(refused)
  stack.defer(() => rows.close())
  const chain = new EngineChain(spec, rows)
  stack.defer(() => chain.close())
  const life: Life = { stage: 'starting', failed: false }
  const { context, own } = await partsOf(options, chain, life, stack)
  own?.failure.catch(() => (life.failed = true))
  const { ApiServer, apiLimits, openMetricsPort, PassedEvents, ShownBlocks, WebSockets, WsServer } =
    await import('../serving-parts.js')
  const { hosts = loopbackHosts, metricsHosts, drain = 0 } = tuning.api ?? {}
  const port = (name: 'rest' | 'ws' | 'rpc') => portOf(name, tuning.node?.portBase)
  const { nodes, heights } = context
  const shown = new ShownBlocks(chain, { ...apiLimits, ...tuning.api })
  const sockets = new WebSockets(context, new PassedEvents({ nodes, heights, shown }), hosts)
  // At once: a port waits for the connections of its WebSockets.
  const servers: { close(): Promise<void> }[] = [sockets]
  stack.defer(async () => void (await Promise.all(servers.map((server) => server.close()))))
  const opened = async (server: Promise<{ readonly port: number; close(): Promise<void> }>) => {
    servers.push(await server)
    return (await server).port
  }
  const ports = {
    rest: await opened(ApiServer.open(context, { serves: 'rest', hosts, port: port('rest'), sockets })),
    ws: await opened(WsServer.open(context, { hosts, port: port('ws'), sockets })),
    rpc: await opened(ApiServer.open(context, { serves: 'rpc', hosts, port: port('rpc') })),
  }
  if (metricsHosts !== undefined) {
    const port = portOf('metrics', tuning.node?.portBase)
    const figures = await openMetricsPort(context, { hosts: metricsHosts, port })
    stack.defer(() => figures.close())
  }
  life.stage = 'serving'
  const close = async () => {
    life.stage = 'stopping'
    // Balancers ask at intervals, and send requests until they are told.
    if (drain > 0 && !life.failed) await setTimeout(drain * 1000)
    await stack.close()
  }
  const host = urlHost(hosts)
  own?.start(`http://${host}:${ports.rest}`)
  return { chain, ports, host, failure: own?.failure ?? new Promise<never>(() => {}), close }
}

/** How far a gateway is. */
interface Life {
  stage: NodeHealth['stage']
  failed: boolean
}

/** Everything that the interfaces need, with what only a gateway has. */
type GatewayContext = ApiContext & Required<Pick<ApiContext, 'nodes' | 'heights'>>

/** Parts that answer, and the checks of answers. */
interface Parts {
  readonly context: GatewayContext
  readonly own: OwnProofs | undefined
}

async function partsOf(options: GatewayOptions, chain: EngineChain, life: Life, stack: ResourceStack): Promise<Parts> {
  const { spec, env, nodes, tuning = {} } = options
  const { api = {}, resolver: settings = {} } = tuning
  const { cacheBytes, staleAfter = staleAfterDefault, answerOutOfStep: always = false, ...queryLimits } = settings
  const {
    AnswerAdmission,
    apiLimits,
    BodyBudget,
    BehindGateway,
    HeightGate,
    KeptAnswers,
    GatewayMetrics,
    PageFiles,
    SharedAnswers,
  } = await import('../serving-parts.js')
  const { database } = chain
  const clock = { now: () => env.clock.now() + chain.clockOffset }
  const policy = { staleAfter: staleAfter * 1000, always }
  const ofChain = { genesis: chain.genesis.hash, log: env.log }
  const { clock: set, timers } = env
  const known = new AskedNodes(nodes, { ...ofChain, timers, clock: set, ...defined({ steady: options.steady }) })
  stack.defer(() => known.close())
  const standing = standingOf(policy, () => ({
    spec,
    tip: chain.tip.header,
    now: clock.now(),
    rows: { age: database.age, fault: database.fault },
    nodes: known.word,
  }))
  const prover = chainProver(chain)
  const own = ownProofs(options, {
    ...{ rows: database, trust: () => prover.trust(), clock, log: env.log },
    prove: (did, asked) => resolver.resolveShort(did, asked),
  })
  const resolver: Resolver = new Resolver({
    ...{ database, clock, standing, queryLimits, prover },
    tip: () => chain.tip.header,
    ...defined({ cacheBytes, onAnswer: own?.note }),
  })
  stack.defer(() => resolver.close())
  stack.defer(async () => own?.close())
  const limits = { ...apiLimits, ...api }
  const heights = new HeightGate(chain, limits)
  const version = packageVersion()
  const health = (): NodeHealth => {
    const { height } = chain.tip.header
    const sync = progressOf(height, known.word)
    // What lies between both is on its way, and counts for those who ask by how many blocks.
    const best = (known.word?.height ?? 0) > height ? known.word?.height : undefined
    return { failed: life.failed, stage: life.stage, standing: standing(), ...defined({ sync, best }) }
  }
  const metrics = new GatewayMetrics({ chain, rows: database, version, health, ...defined({ own: own?.counts }) })
  stack.defer(() => metrics.close())
  const parts = lackingParts(spec.devnet)
  const context: GatewayContext = {
    reader: new ChainReader(chain),
    resolver,
    nodes: new BehindGateway(nodes, ofChain, heights),
    settle: (work) => database.settle(work),
    log: env.log,
    limits: api,
    access: api,
    sharedAnswers: new SharedAnswers(new AnswerAdmission(limits)),
    heights,
    bodies: new BodyBudget(limits),
    kept: new KeptAnswers({ chain, resolver }, limits.answerCache),
    compareHeads: headsElsewhere,
    metricsApart: api.metricsHosts !== undefined,
    ...defined({ dereference: api.dereference }),
    ...(api.pages === false ? {} : { pages: new PageFiles() }),
    nodeInfo: () => infoOfElsewhere(version),
    metrics,
    health,
    ...parts,
    // Asked for whether they are there: a node may have them.
    get network(): never {
      throw new NeedsNode()
    },
    get voting(): never {
      throw new NeedsNode()
    },
  }
  // Before the first answer: that a node is not in step is known from then on.
  await known.looked
  known.requireOwnChain()
  return { context, own }
}

/** The checks of a gateway that is to make some. A UserError for a chain whose answers have no proofs. */
function ownProofs(
  { verifyOwn = false, verifyEvery: every }: GatewayOptions,
  given: Omit<OwnProofsOptions, 'trust'> & { trust(): OwnProofsOptions['trust'] },
): OwnProofs | undefined {
  if (!verifyOwn) return undefined
  try {
    return new OwnProofs({ ...given, trust: given.trust(), ...defined({ every }) })
  } catch (error) {
    return refused(error)
  }
}
