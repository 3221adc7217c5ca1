/**
 * Wires the rooms into a node and closes them again; no rule and no byte of the chain is decided here.
 *
 *   X-options.ts of the rooms -> optionsToNode (options-to-node.ts) -> NodeTuning, of startNode and serve
 *   NodeOptions (node.ts) -> startNode -> openNode, over a ResourceStack
 *     openStore    open-store.ts: data directory, verifier threads, openLedger: database, start-up check, chain, clock
 *     openPeering  open-peering.ts: peer key, transport
 *     openCore     core.ts: pool, network, vote; all that a simulator can own
 *     EventLog, and what open-parts.ts, open-witness.ts, open-devnet.ts have: StepWatch, Resolver, Devnet, Mining
 *     -> core.start -> Node -> serve (serve-node.ts): REST, WebSocket, JSON-RPC ports
 *
 * Imports api, chain, client, consensus, crypto, devnet, engine, errors, events, light, mempool, mirror, network, primitives, production, proofs, prover, resolver, runtime, shipping, state, storage,
 * voting, wallet, witness, heads, standing; used by gateway, library, config, console, cli, serving.
 * - What was opened is closed in reverse order, once, also if a later opening fails.
 * - No peer gets anything and no vote is signed before core.start; HTTP is loaded only if it is served.
 */
import { defined } from '../base/primitives/defined.js'
import { selfTest } from '../base/crypto/self-test.js'
import { repeat } from '../base/runtime/repeat.js'
import { ResourceStack } from '../base/runtime/resource-stack.js'
import { ChainReader } from '../ledger/chain/reader.js'
import { EventLog } from '../ledger/events/event-log.js'
import { BackupJob } from '../ledger/storage/care/backup-job.js'
import { loadSecret } from '../ledger/storage/secret-file.js'
import { watchInterval } from './standing/chain-watch.js'
import { openCore } from './core.js'
import { FollowedWord } from './standing/followed-word.js'
import type { Node, NodeOptions } from './node.js'
import { openDevnet } from './open-devnet.js'
import { watchOpenFiles } from './open-files.js'
import {
  expectsPeers,
  fillBack,
  keeperOf,
  openMining,
  openMirrorOf,
  openResolver,
  stepWatchOf,
  watchOf,
} from './open-parts.js'
import { openPeering } from './open-peering.js'
import { openStore } from './open-store.js'
import { validatorOf } from './open-validator.js'
import { comparisonOf, openCollector, openWitness } from './open-witness.js'
import { syncStatus } from './standing/sync-status.js'

/** Milliseconds between two searches of the pool for expired transactions. */
const expiryInterval = 10 * 60 * 1000

/** Starts a node without any interface. If it fails, everything that it opened is closed again. */
export async function startNode(options: NodeOptions): Promise<Node> {
  selfTest()
  const stack = new ResourceStack()
  try {
    return await openNode(options, stack)
  } catch (error) {
    await stack.close()
    throw error
  }
}

async function openNode(options: NodeOptions, stack: ResourceStack): Promise<Node> {
  const { spec, env, validator, tuning = {}, onStep } = options
  const store = await openStore(options, stack)
  const { chain, clock, directory, verifier, signatures, failure } = store
  const { identity, peering, transport } = await openPeering(options, directory)
  const core = await openCore({
    chain,
    verifier,
    signatures,
    env,
    poolLimits: tuning.mempool,
    onPool: (done, total) => onStep?.({ stage: 'pool', done, ...defined({ total }) }),
    payTo: tuning.mining?.payTo,
    follows: options.followed !== undefined,
    peering: peering && { ...peering, ...defined({ keeper: keeperOf(options, store, stack) }) },
    validator: validator && (await validatorOf(options, validator, directory, stack)),
  })
  stack.defer(() => core.close())
  const { mempool, voting, network } = core
  const events = await EventLog.open({ chain, mempool, clock: env.clock })
  stack.defer(repeat(env, expiryInterval, () => void mempool.expire()))
  const adminToken = await loadSecret(directory.adminToken, 'admin token', env.random)
  const sync = syncStatus({
    chain,
    network,
    voting,
    expectsPeers: expectsPeers(options),
    votes: validator !== undefined,
  })
  const followed = options.followed && new FollowedWord(options.followed.api, env)
  if (followed !== undefined) stack.defer(() => followed.close())
  const step = stepWatchOf(options, store, core, followed)
  const standing = () => step.standing()
  stack.defer(repeat(env, watchInterval, () => step.look()))
  const witnessed = openCollector(options, store, stack)
  const resolver = openResolver(options, store, standing, witnessed)
  stack.defer(() => resolver.close())
  const devnet = await openDevnet(options, store, mempool, stack)
  const mining = openMining(options, chain, mempool, devnet?.validator ?? voting?.blockProducer)
  stack.defer(() => mining.close())
  const backups = new BackupJob({ directory, database: store.database, timers: env.timers })
  stack.defer(() => backups.close())
  const witness = await openWitness(options, store, resolver, stack)
  const reader = new ChainReader(chain)
  const compareHeads = comparisonOf(options, { ...store, reader, resolver })
  await followed?.looked
  await core.start()
  if (network !== undefined) fillBack(options, store, network, stack)
  const mirror = await openMirrorOf(options, store, { standing, witnessed }, stack)
  stack.defer(watchOpenFiles(env))
  const watch = spec.devnet ? undefined : watchOf(options, chain, core, sync, stack)
  return {
    spec,
    directory,
    identity,
    adminToken,
    chain,
    reader,
    mempool,
    events,
    resolver,
    devnet,
    mining,
    voting,
    backups,
    witness,
    witnessed,
    compareHeads,
    shipping: store.shipping,
    mirror,
    sync,
    standing,
    watch,
    clock,
    failure,
    network: network && transport && { network, transport },
    followed: options.followed,
    follows: followed && (() => followed.follows),
    close: () => stack.close(),
  }
}
