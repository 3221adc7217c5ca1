/**
 * Wires the rooms into a node and closes them again; no rule and no byte of the chain is decided here.
 *
 *   X-options.ts of the rooms -> optionsToNode (options-to-node.ts) -> NodeTuning, of startNode and serve
 *   NodeOptions -> startNode -> openNode, over a ResourceStack
 *     openStore    data directory, verifier threads, openLedger: database, start-up check, chain, clock
 *     openPeering  peer key, transport
 *     openCore     core.ts: pool, network, vote; all that a simulator can own
 *     EventLog, StepWatch, Resolver, Devnet, Mining
 *     -> core.start -> Node -> serve (serve-node.ts): REST, WebSocket, JSON-RPC ports
 *
 * Imports api, chain, client, consensus, crypto, devnet, did, engine, errors, events, light, mempool, mirror, network, primitives, production, proofs, prover, resolver, runtime, shipping, state, storage,
 * voting, wallet, witness; used by gateway, library, config, console, cli.
 * - What was opened is closed in reverse order, once, also if a later opening fails.
 * - No peer gets anything and no vote is signed before core.start; HTTP is loaded only if it is served.
 */
import type { Chain } from '../ledger/chain/chain.js'
import { Pruner } from '../ledger/chain/pruner.js'
import { ChainReader } from '../ledger/chain/reader.js'
import { publicKeyOf } from '../base/crypto/keys.js'
import type { Verifier } from '../base/crypto/verifier.js'
import { createVerifierPool } from '../base/crypto/verifier-pool.js'
import { selfTest } from '../base/crypto/self-test.js'
import { Devnet, type DevnetStep, devnetUnits } from './devnet/devnet.js'
import { automine } from './devnet/mining-mode.js'
import { lockStateFile } from './devnet/state.js'
import { UserError } from '../base/errors/rule-error.js'
import { EventLog } from '../ledger/events/event-log.js'
import type { Mempool } from '../ledger/mempool/mempool.js'
import type { Identity } from '../network/address/peer-identity.js'
import type { Network } from '../network/network.js'
import { networkDefaults } from '../network/network-options.js'
import type { SyncProgress } from '../network/sync/sync-progress.js'
import type { NodeTransport } from '../network/transport/transport-options.js'
import { concat, toHex } from '../base/primitives/bytes.js'
import { defined } from '../base/primitives/defined.js'
import { genesisBlock } from '../base/primitives/genesis.js'
import { sha256 } from '../base/primitives/hash.js'
import { paramsAt, type Spec } from '../base/primitives/spec.js'
import { Mining, type OwnValidator } from '../ledger/production/mining.js'
import { Resolver } from '../answers/resolver/resolver.js'
import { staleAfterDefault } from '../answers/resolver/resolver-options.js'
import type { Standing } from '../answers/resolver/standing.js'
import { ResourceStack } from '../base/runtime/resource-stack.js'
import type { Clock, Env } from '../base/runtime/env.js'
import type { ShippingFigures } from '../ledger/shipping/shipping-figures.js'
import { BackupJob } from '../ledger/storage/care/backup-job.js'
import { DataDirectory } from '../ledger/storage/directory.js'
import { loadSecret } from '../ledger/storage/secret-file.js'
import { SignStateFile, type SignStore } from '../voting/sign-state-file.js'
import { RemoteKey } from '../voting/remote/remote-key.js'
import type { SignReset } from '../voting/signer.js'
import type { Voting } from '../voting/voting.js'
import { ChainWatch, watchInterval } from './chain-watch.js'
import { chainProver } from './chain-prover.js'
import { type Core, type CoreValidator, openCore } from './core.js'
import { type Ledger, openLedger, type OpenStep, stepUnits } from './open-ledger.js'
import { Backfill } from './backfill.js'
import type { JoinStep } from './join-state.js'
import { watchDirectory } from './directory-watch.js'
import { openPeering, type PeeringNode } from './open-peering.js'
import { StateKeeper } from '../ledger/state/state-keeper.js'
import type { Followed } from './followed-node.js'
import { FollowedWord } from './followed-word.js'
import type { Mirror } from '../ledger/mirror/mirror.js'
import type { Variables } from '../ledger/mirror/s3-place.js'
import { watchOpenFiles } from './open-files.js'
import { openShards, shipRows } from './ship-rows.js'
import { StepWatch } from './step-watch.js'
import { joinUnits, requireJoinable } from './taken-state.js'
import { syncStatus } from './sync-status.js'
import { HeadComparison } from './compare-heads.js'
import { keepEvidence } from './keep-evidence.js'
import { OwnWitness } from './own-witness.js'
import { WitnessCollector } from './witness-collector.js'
import { readWitnessPlace } from '../clients/light/witness-place.js'
import { WitnessSigner, type WitnessSignerOptions } from '../clients/witness/witness-signer.js'

/** Milliseconds between two searches of the pool for expired transactions. */
const expiryInterval = 10 * 60 * 1000

export type { NodePeering } from './open-peering.js'

export interface NodeOptions extends PeeringNode {
  /** A key that votes on a chain with validators. */
  readonly validator?: NodeValidator
  /** A key that cosigns heads, with its state. */
  readonly witness?: NodeWitness
  /** Variables of the process, which name the object store of a mirror. */
  readonly variables?: Variables
  /** Takes the progress of all that it does before it serves. */
  readonly onStep?: (step: StartStep) => void
}

/** Units of the stages of a start. */
export const startUnits = { ...joinUnits, ...stepUnits, pool: 'transactions', ...devnetUnits } as const

/** How far a start is; without `total`: how much there is is unknown. */
export type StartStep = JoinStep | OpenStep | PoolStep | DevnetStep

interface PoolStep {
  readonly stage: 'pool'
  readonly done: number
  /** Absent: unknown. */
  readonly total?: number
}

/** A key that votes: 32 bytes of a private key, or the path of the socket of its signer. */
export type NodeValidator = ({ readonly key: Uint8Array } | { readonly signer: string }) & {
  /** Begins a new sign state if the stored one is missing or damaged. */
  readonly resetSignState?: SignReset
}

/** A key by which a node is a witness. */
export type NodeWitness = Pick<WitnessSignerOptions, 'secret' | 'store'>

/** The peers of a node, and where it listens for them. */
export interface NodeNetwork {
  readonly network: Network
  readonly transport: NodeTransport
}

/** A running node; node/serve-node.ts opens its interfaces. */
export interface Node {
  readonly spec: Spec
  readonly directory: DataDirectory
  readonly identity: Identity
  /** Opens the methods of the owner: the 32 bytes in the file admin.token. */
  readonly adminToken: Uint8Array
  readonly chain: Chain
  readonly reader: ChainReader
  readonly mempool: Mempool
  readonly events: EventLog
  readonly resolver: Resolver
  readonly devnet: Devnet | undefined
  readonly mining: Mining
  /** On a chain with validators that is no devnet. */
  readonly voting: Voting | undefined
  readonly network: NodeNetwork | undefined
  /** The node that a follower follows; undefined for every other node. */
  readonly followed: Followed | undefined
  readonly backups: BackupJob
  /** The heads that it has cosigned; undefined: it is no witness. */
  readonly witness: WitnessSigner | undefined
  /** Cosignatures of its witnesses; undefined: it names none. */
  readonly witnessed: WitnessCollector | undefined
  /** Compares heads that others send with its own. */
  readonly compareHeads: HeadComparison
  /** Figures of rows on their way to shards; undefined without any. */
  readonly shipping: ShippingFigures | undefined
  /** The mirror that the node writes; undefined: none. */
  readonly mirror: Mirror | undefined
  /** How far the node is: see node/sync-status.ts. */
  sync(): SyncProgress
  /** Whether it may say what is so now: see node/in-step.ts. */
  standing(): Standing
  /** Whether the chain advances, and whether the clock is right; undefined on a devnet, which makes blocks when it is asked. */
  readonly watch: ChainWatch | undefined
  /** The clock of the chain: the virtual one on a devnet. */
  readonly clock: Clock
  /** Rejects when the node cannot continue: a failed write, a broken invariant. */
  readonly failure: Promise<never>
  close(): Promise<void>
}

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
  const followed = options.followed && new FollowedWord(options.followed.api, env.timers)
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
    close: () => stack.close(),
  }
}

/** A ledger with its directory and its verifier. */
interface Store extends Ledger {
  readonly directory: DataDirectory
  readonly verifier: Verifier
  readonly failure: Promise<never>
  readonly shipping?: ShippingFigures
}

async function openStore(options: NodeOptions, stack: ResourceStack): Promise<Store> {
  const { spec, env, tuning = {}, onStep } = options
  const { dataDir, cacheBytes: databaseCache, stateFrom, ...kept } = tuning.storage ?? {}
  const { keepBlocks, keepDocuments, archiveProofs } = kept
  // Before there is a directory.
  if ((keepBlocks ?? keepDocuments) !== undefined && spec.devnet) {
    throw new UserError('a devnet does not prune: it goes back to any of its blocks', 2)
  }
  if (stateFrom !== undefined) requireJoinable(spec)
  const shards = await openShards(tuning.shipping, stack)
  const directory = await DataDirectory.open(dataDir)
  stack.defer(() => directory.close())
  const verifier = createVerifierPool({ ...tuning.crypto, log: env.log })
  stack.defer(() => verifier.close())
  if (stateFrom !== undefined) {
    const { joinState } = await import('./join-state.js')
    await joinState(stateFrom, options, directory, verifier)
  } else if (directory.hasJoin) {
    const { dropJoin } = await import('./join-state.js')
    await dropJoin(directory)
  }
  const runs = await directory.unfinishedRuns()
  const ledger = await openLedger(
    spec,
    directory,
    verifier,
    env,
    defined({ databaseCache, runs, keepBlocks, keepDocuments, archiveProofs, ships: shards?.terms, onStep }),
  )
  const { chain, database } = ledger
  stack.defer(async () => {
    await chain.close().finally(() => database.close())
    await directory.noteUnfinishedRuns(0)
  })
  for (const [what, keep] of [
    ['blocks', keepBlocks],
    ['documents', keepDocuments],
  ] as const) {
    if (keep === undefined) continue
    const pruner = new Pruner({ chain, what, keep, log: env.log })
    stack.defer(() => pruner.close())
  }
  if (keepDocuments === undefined && chain.supersededHeight > 0) {
    env.log.info(
      { height: chain.supersededHeight },
      'documents superseded up to this height were given up, and stay so',
    )
  }
  const shipping = shards && (await shipRows(shards, ledger, env, stack))
  const stopped = new Promise<never>((_, reject) => chain.events.once('fatal', reject))
  const { gone, end } = watchDirectory(directory, env)
  stack.defer(end)
  const failure = Promise.race([stopped, database.failure, gone])
  // Not unhandled before a user of the node awaits it.
  failure.catch(() => {})
  return { ...ledger, directory, verifier, failure, ...defined({ shipping }) }
}

/** Whether peers are named, or may be found: without them the node does not know how far the chain is. */
function expectsPeers({ peering, followed, tuning = {} }: NodeOptions): boolean {
  if (peering === undefined) return false
  if (followed !== undefined) return true
  const { peers, mdns } = { ...networkDefaults, ...tuning.network }
  return peers.length > 0 || mdns
}

function stepWatchOf(
  options: NodeOptions,
  { chain, clock }: Store,
  { network, voting }: Core,
  followed: FollowedWord | undefined,
): StepWatch {
  const { staleAfter = staleAfterDefault, answerOutOfStep: always = false } = options.tuning?.resolver ?? {}
  const policy = { staleAfter: staleAfter * 1000, always }
  // Where it is the only validator no one else has made blocks meanwhile.
  const { validators } = paramsAt(chain.spec, chain.tip.header.height + 1)
  const isSole = options.validator !== undefined && validators.length === 1
  const hadPeers = !isSole && network?.peers.hasMet === true
  const sources = { chain, clock, sync: network?.sync, hadPeers, voting, followed }
  return new StepWatch({ ...sources, expectsPeers: expectsPeers(options), policy })
}

function openResolver(
  { tuning = {} }: NodeOptions,
  { chain, database, clock }: Store,
  standing: () => Standing,
  witnessed: WitnessCollector | undefined,
): Resolver {
  const { cacheBytes, staleAfter: _, answerOutOfStep: __, ...queryLimits } = tuning.resolver ?? {}
  const [tip, prover] = [() => chain.tip.header, chainProver(chain, witnessed?.cosignaturesOf)]
  const cosigned = witnessed && (() => witnessed.version)
  return new Resolver({ database, clock, prover, tip, standing, queryLimits, ...defined({ cacheBytes, cosigned }) })
}

/** Collects cosignatures until the node closes; undefined where no witnesses are named. */
function openCollector(
  { env, tuning = {} }: NodeOptions,
  { chain }: Store,
  stack: ResourceStack,
): WitnessCollector | undefined {
  const { places = [] } = tuning.witness ?? {}
  if (places.length === 0) return undefined
  const collector = new WitnessCollector({ ...env, chain, witnesses: places.map(readWitnessPlace) })
  stack.defer(async () => collector.close())
  return collector
}

/** Cosigns heads until the node closes; undefined for a node that is no witness. */
async function openWitness(
  { env, witness }: NodeOptions,
  { chain }: Store,
  { proofs }: Resolver,
  stack: ResourceStack,
): Promise<WitnessSigner | undefined> {
  if (witness === undefined) return undefined
  const { log, clock } = env
  const signer = await WitnessSigner.open({
    ...witness,
    genesis: chain.genesis.header.hash,
    hasValidators: chain.spec.hasValidators,
    now: () => clock.now(),
    onAlarm: (text) => log.error({}, text),
  })
  const own = new OwnWitness({ chain, proofs, signer, log })
  stack.defer(() => own.close())
  void own.look()
  return signer
}

/** Compares heads of others with those of the node; what they prove is written beside its rows. */
function comparisonOf(
  { env }: NodeOptions,
  {
    reader,
    resolver,
    directory,
  }: Pick<Store, 'directory'> & { readonly reader: ChainReader; readonly resolver: Resolver },
): HeadComparison {
  const { log } = env
  return new HeadComparison({
    ...{ reader, proofs: resolver.proofs, log },
    onEvidence: (evidence) => void keepEvidence(directory.path, evidence, log),
  })
}

async function openDevnet(
  { env, tuning = {}, onStep = () => {} }: NodeOptions,
  { chain, signatures, virtualClock, directory }: Store,
  mempool: Mempool,
  stack: ResourceStack,
): Promise<Devnet | undefined> {
  if (virtualClock === undefined) return undefined
  const { mining = automine, accounts, mnemonic, balance, seedDids = 0, state: stateFile } = tuning.devnet ?? {}
  if (stateFile !== undefined) stack.defer(await lockStateFile(stateFile))
  const devnet = new Devnet({
    ...env,
    chain,
    mempool,
    signatures,
    clock: virtualClock,
    mining,
    ...defined({ stateFile }),
  })
  stack.defer(() => devnet.close().catch((error: unknown) => keepChain(directory, error)))
  await devnet.loadStateFile((done) => onStep({ stage: 'state', done }))
  await devnet.fund(defined({ accounts, mnemonic, balance }))
  if (seedDids > 0) await devnet.seed(seedDids, (done) => onStep({ stage: 'dids', done, total: seedDids }))
  devnet.start()
  return devnet
}

/** Keeps the directory of a devnet whose state could not be saved, and throws the failure with its place. */
async function keepChain(directory: DataDirectory, error: unknown): Promise<never> {
  if (!directory.temporary) throw error
  await directory.keep()
  const { message } = error as Error
  const kept = `${message}; the chain stays in ${directory.path}: "npx didledger devnet --data-dir ${directory.path}" continues there`
  throw error instanceof UserError ? new UserError(kept, error.exitCode) : new Error(kept, { cause: error })
}

function openMining(
  { env, tuning = {} }: NodeOptions,
  chain: Chain,
  mempool: Mempool,
  validator?: OwnValidator,
): Mining {
  const { payTo } = tuning.mining ?? {}
  const mining = new Mining({ ...env, chain, mempool, ...defined({ payTo, validator }) })
  if (payTo !== undefined && !chain.spec.hasValidators) mining.start(payTo)
  return mining
}

/** Milliseconds between two looks for signatures of witnesses that a mirror has not. */
const cosignInterval = 1000

/** Writes a mirror until the node closes; undefined: none is asked for. */
async function openMirrorOf(
  { env, tuning = {}, variables = {}, spec }: NodeOptions,
  { chain, database }: Store,
  { standing, witnessed }: { readonly standing: () => Standing; readonly witnessed: WitnessCollector | undefined },
  stack: ResourceStack,
): Promise<Mirror | undefined> {
  const { to, ...settings } = tuning.mirror ?? {}
  if (to === undefined) return undefined
  const { openMirror } = await import('./node-mirror.js')
  const isInStep = () => spec.devnet || standing().inStep
  const cosigned = defined({ cosignaturesOf: witnessed?.cosignaturesOf })
  const mirror = await openMirror({ to, ...settings }, { chain, database, env, variables, isInStep, ...cosigned })
  stack.defer(() => mirror.close())
  await mirror.start()
  stack.defer(repeat(env, cosignInterval, () => mirror.look()))
  return mirror
}

/** Keeps the state that the blocks commit to for peers; undefined where the node has not what it is made of, or is not to. */
function keeperOf(
  { env, tuning = {}, followed }: NodeOptions,
  { chain, directory }: Store,
  stack: ResourceStack,
): StateKeeper | undefined {
  const { keepState = true } = tuning.storage ?? {}
  if (!keepState || chain.prunes || chain.spec.coinRoots === undefined || followed !== undefined) return undefined
  const keeper = new StateKeeper({ chain, directory: directory.states, log: env.log })
  stack.defer(() => keeper.close())
  keeper.start()
  return keeper
}

/** Verifies what lies below a state that the node began with, beside everything else. */
function fillBack(
  { env, tuning = {}, followed }: NodeOptions,
  { chain, directory, verifier }: Store,
  network: Network,
  stack: ResourceStack,
): void {
  const { backfill = true, keepBlocks } = tuning.storage ?? {}
  if (!backfill || keepBlocks !== undefined || chain.prunesDocuments || followed !== undefined) return
  const filling = new Backfill({ ...env, chain, directory: directory.history, verifier, network })
  filling.start()
  stack.defer(() => filling.close())
}

/** Watches the chain until the node closes. */
function watchOf(
  { env }: NodeOptions,
  chain: Chain,
  { voting, network }: Core,
  sync: () => SyncProgress,
  stack: ResourceStack,
): ChainWatch {
  const { clock, log } = env
  const peers = () => network?.peers.all().length
  const catchingUp = () => sync().catchingUp
  const behindByClock = () => network?.sync.behindByClock ?? false
  const watch = new ChainWatch({ chain, clock, log, voting, peers, catchingUp, behindByClock })
  stack.defer(async () => watch.close())
  stack.defer(repeat(env, watchInterval, () => watch.look()))
  return watch
}

/** One file for each key and chain: a directory may see several keys, and a key several chains. */
/** The key of a validator with its sign state: in the data directory, or at its signer. */
async function validatorOf(
  { spec, env }: NodeOptions,
  validator: NodeValidator,
  directory: DataDirectory,
  stack: ResourceStack,
): Promise<CoreValidator> {
  if ('key' in validator) return { ...validator, signStore: signStoreOf(directory, spec, validator.key) }
  const { signer: socket, ...reset } = validator
  const holder = await RemoteKey.open({ ...env, socket, genesis: genesisBlock(spec).header.hash })
  stack.defer(async () => holder.close())
  return { holder, ...reset }
}

function signStoreOf(directory: DataDirectory, spec: Spec, key: Uint8Array): SignStore {
  const owner = sha256(concat(publicKeyOf(key), genesisBlock(spec).header.hash))
  return new SignStateFile(directory.signState(toHex(owner.subarray(0, 8))))
}

/** Calls back every so many milliseconds; the returned function ends it. */
function repeat({ timers }: Env, milliseconds: number, callback: () => void): () => Promise<void> {
  let cancel = timers.after(milliseconds, tick)
  function tick(): void {
    callback()
    cancel = timers.after(milliseconds, tick)
  }
  return async () => cancel()
}
