/**
 * Serves the answers of a node from its rows in another engine. Any number of gateways stand beside each other: they keep nothing.
 *
 *   engine -> EngineRows (ledger/engine) -> EngineChain: tip, headers, clock
 *          -> Resolver, ChainReader, Prover: the code of a node, over these rows
 *          -> ApiServer, WebSockets; what needs a pool, peers or votes, and events -> BehindGateway -> a node
 *
 * Imports consensus, node, errors, primitives, runtime, crypto, proofs, did, light, chain, engine, storage, resolver, api, standing, serving; used by cli.
 * - Bodies of answers are those of a node at the same tip.
 * - Nothing is written: neither rows nor files.
 */
import type { ApiContext } from '../../answers/api/api-context.js'
import { NeedsNode } from '../../answers/api/http/needs-node.js'
import type { NodeHealth } from '../../answers/api/node-handles.js'
import { Resolver } from '../../answers/resolver/resolver.js'
import type { Standing } from '../../answers/resolver/standing.js'
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
import { loadServing, openPorts, openShared, type ServingLife } from '../serving/open-ports.js'
import type { NodeTuning } from '../options-to-node.js'
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
  const life: ServingLife = { stage: 'starting', failed: false }
  const answers = answersOf(options, chain, stack)
  const { known, own } = answers
  const context = await contextOf(options, chain, life, answers)
  // Before the first answer: that a node is not in step is known from then on.
  await known.looked
  known.requireOwnChain()
  own?.failure.catch(() => (life.failed = true))
  const { apiLimits, PassedEvents, ShownBlocks } = await loadServing()
  const { nodes, heights } = context
  const shown = new ShownBlocks(chain, { ...apiLimits, ...tuning.api })
  const ports = { rest: 0, ws: 0, rpc: 0 }
  const { host, close } = await openPorts(context, new PassedEvents({ nodes, heights, shown }), { tuning, life, ports })
  stack.defer(close)
  own?.start(`http://${host}:${ports.rest}`)
  const failure = own?.failure ?? new Promise<never>(() => {})
  return { chain, ports, host, failure, close: () => stack.close() }
}

/** Everything that the interfaces need, with what only a gateway has. */
type GatewayContext = ApiContext & Required<Pick<ApiContext, 'nodes' | 'heights'>>

/** Parts that answer, and the checks of answers. */
interface Answers {
  readonly known: AskedNodes
  readonly standing: () => Standing
  readonly resolver: Resolver
  readonly own: OwnProofs | undefined
}

function answersOf(options: GatewayOptions, chain: EngineChain, stack: ResourceStack): Answers {
  const { spec, env, nodes, tuning = {} } = options
  const { cacheBytes, staleAfter = staleAfterDefault, answerOutOfStep, ...queryLimits } = tuning.resolver ?? {}
  const { database } = chain
  const clock = { now: () => env.clock.now() + chain.clockOffset }
  const policy = { staleAfter: staleAfter * 1000, always: answerOutOfStep === true }
  const known = new AskedNodes(nodes, { ...env, genesis: chain.genesis.hash, ...defined({ steady: options.steady }) })
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
  return { known, standing, resolver, own }
}

async function contextOf(
  { spec, env: { log }, nodes, tuning: { api = {} } = {} }: GatewayOptions,
  chain: EngineChain,
  life: ServingLife,
  { known, standing, resolver, own }: Answers,
): Promise<GatewayContext> {
  const { BehindGateway, GatewayMetrics } = await loadServing()
  const { database } = chain
  const version = packageVersion()
  const health = (): NodeHealth => {
    const { height } = chain.tip.header
    const sync = progressOf(height, known.word)
    // What lies between both is on its way, and counts for those who ask by how many blocks.
    const best = (known.word?.height ?? 0) > height ? known.word?.height : undefined
    return { ...life, standing: standing(), ...defined({ sync, best }) }
  }
  const metrics = new GatewayMetrics({ chain, rows: database, version, health, ...defined({ own: own?.counts }) })
  const reader = new ChainReader(chain)
  const shared = await openShared({ reader, resolver, log }, api)
  return {
    ...{ reader, resolver, metrics, health, ...shared },
    nodes: new BehindGateway(nodes, { genesis: chain.genesis.hash, log }, shared.heights),
    settle: (work) => database.settle(work),
    compareHeads: headsElsewhere,
    nodeInfo: () => infoOfElsewhere(version),
    ...lackingParts(spec.devnet),
    // Asked for whether they are there: a node may have them.
    get network(): never {
      throw new NeedsNode()
    },
    get voting(): never {
      throw new NeedsNode()
    },
  }
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
