import { Chain } from '../chain/chain.js'
import { checkRecentBlocks } from '../chain/check-recent-blocks.js'
import { ChainReader } from '../chain/reader.js'
import { publicKeyOf } from '../crypto/keys.js'
import { SignatureCache } from '../crypto/signature-cache.js'
import type { Verifier } from '../crypto/verifier.js'
import { createVerifierPool } from '../crypto/verifier-pool.js'
import { selfTest } from '../crypto/verify.js'
import { VirtualClock } from '../devnet/clock.js'
import { Devnet, type MiningMode } from '../devnet/devnet.js'
import { EventLog } from '../events/event-log.js'
import type { Mempool } from '../mempool/mempool.js'
import type { PoolLimits } from '../mempool/policy.js'
import { type Identity, loadIdentity } from '../network/address/peer-identity.js'
import type { AssumedBlock } from '../network/assumed-block.js'
import type { Network } from '../network/network.js'
import { openTransport } from '../network/open-transport.js'
import type { PeerSettings } from '../network/peers/peer-manager.js'
import type { SyncProgress } from '../network/sync/sync-progress.js'
import type { NodeTransport } from '../network/transport/transport-options.js'
import { protocols, topics } from '../network/wire/all-messages.js'
import type { ProgramHash } from '../primitives/address.js'
import { concat, toHex } from '../primitives/bytes.js'
import { genesisBlock } from '../primitives/genesis.js'
import { sha256 } from '../primitives/hash.js'
import type { Spec } from '../primitives/spec.js'
import { Mining } from '../production/mining.js'
import type { QueryLimits } from '../resolver/document-search.js'
import { Resolver } from '../resolver/resolver.js'
import type { Clock, Env } from '../runtime/env.js'
import { checkJournal } from '../storage/check-journal.js'
import { Database } from '../storage/database.js'
import { DataDirectory } from '../storage/directory.js'
import { keys } from '../storage/schema.js'
import { loadSecret } from '../storage/secret-file.js'
import { bytesToCheck, checkFiles } from '../storage/start-check.js'
import { SignStateFile, type SignStore } from '../voting/sign-state-file.js'
import type { SignReset } from '../voting/signer.js'
import type { Voting } from '../voting/voting.js'
import { openCore } from './core.js'

/** How often the pool is looked through for what has waited too long, in milliseconds. */
const expiryInterval = 10 * 60 * 1000

export interface NodeOptions {
  readonly spec: Spec
  readonly env: Env
  /** A temporary directory when absent. */
  readonly dataDir?: string
  /** When the one validator of a devnet spec makes blocks; the default is at once. */
  readonly mining?: MiningMode
  /** On a devnet: so many accounts have coins, those that its genesis block pays included. */
  readonly accounts?: number
  /** Whom own blocks pay; on a chain without validators it also means that the node mines. */
  readonly mineTo?: ProgramHash
  /** Absent, and on a devnet: the node knows no other. */
  readonly peering?: NodePeering
  /** A key that votes on a chain with validators. */
  readonly validator?: NodeValidator
  readonly tuning?: NodeTuning
}

/** How a node finds others, and is found. */
export interface NodePeering extends PeerSettings {
  /** IP addresses to listen on; of no use without a port. */
  readonly hosts: readonly string[]
  /** 0 takes a free one; undefined: nobody can connect to this node. */
  readonly port: number | undefined
  /** Whether to look for nodes in the local network, and to be found there. */
  readonly mdns: boolean
  /** A block whose signatures, and those of all below it, are believed once it is on the chain that peers prove. */
  readonly assumeValid?: AssumedBlock
}

export interface NodeValidator {
  /** 32-byte private key. */
  readonly key: Uint8Array
  /** Begins a new memory of what the key signed, in the place of one that is missing or damaged. */
  readonly resetSignState?: SignReset
}

/** Sizes that a node has good values for. */
export interface NodeTuning {
  /** Bytes that the database keeps of its tables. */
  readonly databaseCache?: number
  /** Threads that verify signatures; as many as there are processors when absent. */
  readonly verifierThreads?: number
  /** Bytes of answers that the resolver keeps. */
  readonly resolverCache?: number
  /** What differs from the limits of searches. */
  readonly queries?: Partial<QueryLimits>
  /** What differs from the pool's policy. */
  readonly pool?: Partial<PoolLimits>
}

/** The peers of a node, and where it listens for them. */
export interface NodeNetwork {
  readonly network: Network
  readonly transport: NodeTransport
}

/** The parts of a running node, wired together. Interfaces are served over them by api/. */
export interface Node {
  readonly spec: Spec
  readonly directory: DataDirectory
  readonly identity: Identity
  /** What the owner of the node shows its interfaces to be let in: the 32 bytes in the file admin.token. */
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
  /** How far the node is; it counts as catching up too while it was told of peers, has met none, and knows nothing but genesis. */
  sync(): SyncProgress
  /** The clock that the chain lives by: the virtual one on a devnet. */
  readonly clock: Clock
  /** Rejects when the node cannot go on: a failed write, a broken invariant. */
  readonly failure: Promise<never>
  close(): Promise<void>
}

/**
 * Opens a ledger: directory, database (with a cache of so many bytes) with its start-up checks, chain. Unless `runs` counts
 * those that did not end, all files are looked at before LevelDB reads them.
 */
export async function openLedger(
  spec: Spec,
  directory: DataDirectory,
  verifier: Verifier,
  env: Env,
  { databaseCache, runs }: { readonly databaseCache?: number | undefined; readonly runs?: number } = {},
): Promise<{
  chain: Chain
  database: Database
  clock: Clock
  virtualClock: VirtualClock | undefined
  signatures: SignatureCache
}> {
  await checkFiles(directory.database, runs === undefined ? Infinity : bytesToCheck(runs))
  // Before it is opened: LevelDB begins to rewrite its tables at once.
  if (runs !== undefined) await directory.noteUnfinishedRuns(runs + 1)
  const database = await Database.open(directory.database, databaseCache).catch(async (error: unknown) => {
    if (runs !== undefined) await directory.noteUnfinishedRuns(runs)
    throw error
  })
  try {
    const span = await checkJournal(database)
    await directory.claim(spec.name, genesisBlock(spec).header.hash, database.get(keys.meta('tip')) === undefined)
    const virtualClock = spec.devnet ? new VirtualClock(env.clock, database) : undefined
    const clock = virtualClock ?? env.clock
    const signatures = new SignatureCache()
    const chain = await Chain.open({ spec, database, verifier, signatures, clock, log: env.log })
    await checkRecentBlocks(chain, span)
    if (virtualClock !== undefined) chain.addIndexer(virtualClock)
    return { chain, database, clock, virtualClock, signatures }
  } catch (error) {
    await database.close()
    throw error
  }
}

/** Runs with a verifier that has threads of its own, for work on a ledger that no node is using. */
export async function withVerifier<T>(env: Env, run: (verifier: Verifier) => Promise<T>): Promise<T> {
  const verifier = createVerifierPool({ log: env.log })
  try {
    return await run(verifier)
  } finally {
    await verifier.close()
  }
}

/** Starts a node without any interface. */
export async function startNode(options: NodeOptions): Promise<Node> {
  const { spec, env, tuning = {} } = options
  const { databaseCache, verifierThreads, resolverCache, queries = {}, pool = {} } = tuning
  selfTest()
  const directory = await DataDirectory.open(options.dataDir)
  const verifier = createVerifierPool({
    log: env.log,
    ...(verifierThreads === undefined ? {} : { workers: verifierThreads }),
  })
  const closers: (() => Promise<void>)[] = [() => directory.close(), () => verifier.close()]
  const close = async () => {
    const failures: unknown[] = []
    for (const closer of closers.splice(0).reverse()) await closer().catch((error: unknown) => failures.push(error))
    if (failures.length > 0) throw failures[0]
  }
  try {
    const runs = await directory.unfinishedRuns()
    const ledger = await openLedger(spec, directory, verifier, env, { databaseCache, runs })
    const { chain, database, clock, virtualClock, signatures } = ledger
    closers.push(async () => {
      await chain.close().finally(() => database.close())
      await directory.noteUnfinishedRuns(0)
    })
    const stopped = new Promise<never>((_, reject) => chain.events.once('fatal', reject))
    const failure = Promise.race([stopped, database.failure])
    failure.catch(() => {})
    const identity = await loadIdentity(directory.peerKey, env.random)
    const { peering, validator, mineTo } = options
    const transport = peering === undefined || spec.devnet ? undefined : await transportOf(spec, identity, peering, env)
    const core = await openCore({
      ...{ chain, verifier, signatures, env, poolLimits: pool, payTo: mineTo },
      peering: transport && { ...{ transport, settings: peering as NodePeering }, ...identity, ...peering },
      validator: validator && { ...validator, signStore: signStoreOf(directory, spec, validator.key) },
    })
    closers.push(() => core.close())
    const { mempool, voting } = core
    const events = await EventLog.open({ chain, mempool, clock: env.clock })
    closers.push(repeat(env, expiryInterval, () => mempool.expire()))
    const adminToken = await loadSecret(directory.adminToken, 'admin token', env.random)
    const reader = new ChainReader(chain)
    const tip = () => chain.tip.header
    // Without peers nobody can have proved a better tip.
    const alone = (): SyncProgress => {
      const { height } = tip()
      return { stage: 'idle', catchingUp: false, height, target: height, rate: 0, reason: 'this node has no peers' }
    }
    let met = core.network === undefined
    core.network?.peers.events.once('joined', () => (met = true))
    // Who was told whom to ask, met nobody and has nothing but genesis, cannot say that something does not exist.
    const lost = () => !met && validator === undefined && peering?.peers.length !== 0 && tip().height === 0
    const sync = (): SyncProgress => {
      const status = core.network?.sync.progress() ?? alone()
      return lost() ? { ...status, catchingUp: true } : status
    }
    const resolver = new Resolver({
      database,
      clock,
      tip,
      sync,
      queryLimits: queries,
      ...(resolverCache === undefined ? {} : { cacheBytes: resolverCache }),
    })
    closers.push(() => resolver.close())

    let devnet: Devnet | undefined
    if (virtualClock !== undefined) {
      const mining = options.mining ?? { kind: 'automine' }
      devnet = new Devnet({ ...env, chain, mempool, clock: virtualClock, mining })
      closers.push(() => (devnet as Devnet).stop())
      if (options.accounts !== undefined) await devnet.fund(options.accounts)
      devnet.start()
    }
    const payTo = mineTo === undefined ? {} : { payTo: mineTo }
    const maker = devnet?.validator ?? voting?.blockProducer
    const mining = new Mining({ ...env, chain, mempool, ...payTo, ...(maker && { validator: maker }) })
    closers.push(() => mining.stop())
    if (mineTo !== undefined && !spec.hasValidators) mining.start(mineTo)
    await core.start()
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
      network: core.network && transport && { network: core.network, transport },
      sync,
      clock,
      failure,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

function transportOf(spec: Spec, { secretKey }: Identity, peering: NodePeering, env: Env): Promise<NodeTransport> {
  const { hosts, port, mdns } = peering
  const genesis = genesisBlock(spec).header.hash
  return openTransport({ secretKey, genesis, protocols, topics, hosts, port, mdns, env })
}

/** One file for each key and chain: a directory may see several keys, and a key several chains. */
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
