import { Chain } from './chain/chain.js'
import { checkRecentBlocks } from './chain/integrity.js'
import { ChainReader } from './chain/reader.js'
import { createVerifierPool } from './crypto/pool.js'
import { SignatureCache } from './crypto/signature-cache.js'
import type { Verifier } from './crypto/verifier.js'
import { selfTest } from './crypto/verify.js'
import { VirtualClock } from './devnet/clock.js'
import { Devnet, type MiningMode } from './devnet/devnet.js'
import type { Clock, Env } from './env.js'
import { EventLog } from './events/log.js'
import { Mempool } from './mempool/mempool.js'
import type { PoolLimits } from './mempool/policy.js'
import { Mining } from './mining/mining.js'
import { type Identity, loadIdentity } from './network/identity.js'
import type { ProgramHash } from './primitives/address.js'
import { genesisBlock } from './primitives/genesis.js'
import type { Spec } from './primitives/spec.js'
import type { QueryLimits } from './resolver/query.js'
import { Resolver, type SyncStatus } from './resolver/resolver.js'
import { checkJournal } from './storage/check.js'
import { loadSecret } from './storage/secret-file.js'
import { Database } from './storage/database.js'
import { DataDirectory } from './storage/directory.js'
import { keys } from './storage/schema.js'

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
  /** On a chain without validators: mine, and pay this address. */
  readonly mineTo?: ProgramHash
  readonly tuning?: NodeTuning
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
  /** Whether a peer has proved a tip that the node does not have. */
  sync(): SyncStatus
  /** The clock that the chain lives by: the virtual one on a devnet. */
  readonly clock: Clock
  /** Rejects when the node cannot go on: a failed write, a broken invariant. */
  readonly failure: Promise<never>
  close(): Promise<void>
}

/** Opens a ledger: directory, database (with a cache of so many bytes) with its start-up checks, chain. */
export async function openLedger(
  spec: Spec,
  directory: DataDirectory,
  verifier: Verifier,
  env: Env,
  databaseCache?: number,
): Promise<{
  chain: Chain
  database: Database
  clock: Clock
  virtualClock: VirtualClock | undefined
  signatures: SignatureCache
}> {
  const database = await Database.open(directory.database, databaseCache)
  try {
    const span = await checkJournal(database)
    await directory.claim(spec.name, genesisBlock(spec).header.hash, database.get(keys.meta('tip')) === undefined)
    const virtualClock = spec.devnet ? new VirtualClock(env.clock, database) : undefined
    const clock = virtualClock ?? env.clock
    const signatures = new SignatureCache()
    const chain = await Chain.open({ spec, database, verifier, signatures, clock, log: env.log })
    await checkRecentBlocks(chain, span)
    if (virtualClock !== undefined) chain.addFollower(virtualClock)
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
    const ledger = await openLedger(spec, directory, verifier, env, databaseCache)
    const { chain, database, clock, virtualClock, signatures } = ledger
    closers.push(
      () => database.close(),
      () => chain.close(),
    )
    const stopped = new Promise<never>((_, reject) => chain.events.once('fatal', reject))
    const failure = Promise.race([stopped, database.failure])
    failure.catch(() => {})
    const mempool = await Mempool.open({
      chain,
      verifier,
      signatures,
      clock: env.clock,
      log: env.log,
      limits: pool,
    })
    closers.push(() => mempool.close())
    const events = await EventLog.open({ chain, mempool, clock: env.clock })
    closers.push(repeat(env, expiryInterval, () => mempool.expire()))
    const identity = await loadIdentity(directory.peerKey, env.random)
    const adminToken = await loadSecret(directory.adminToken, 'admin token', env.random)
    const reader = new ChainReader(chain)
    const tip = () => chain.tip.header
    // Without peers nobody can have proved a better tip.
    const sync = () => ({ catchingUp: false, height: chain.tip.header.height, target: chain.tip.header.height })
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
    const payTo = options.mineTo === undefined ? {} : { payTo: options.mineTo }
    const validator = devnet === undefined ? {} : { validator: devnet.validator }
    const mining = new Mining({ ...env, chain, mempool, ...payTo, ...validator })
    closers.push(() => mining.stop())
    if (options.mineTo !== undefined) mining.start(options.mineTo)
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

/** Calls back every so many milliseconds; the returned function ends it. */
function repeat({ timers }: Env, milliseconds: number, callback: () => void): () => Promise<void> {
  let cancel = timers.after(milliseconds, tick)
  function tick(): void {
    callback()
    cancel = timers.after(milliseconds, tick)
  }
  return async () => cancel()
}
