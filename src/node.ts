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
import { Mempool } from './mempool/mempool.js'
import { Miner } from './mining/miner.js'
import { type Identity, loadIdentity } from './network/identity.js'
import type { ProgramHash } from './primitives/address.js'
import { genesisBlock } from './primitives/genesis.js'
import type { Spec } from './primitives/spec.js'
import { Resolver } from './resolver/resolver.js'
import { checkJournal } from './storage/check.js'
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
  /** On a chain without validators: mine, and pay this address. */
  readonly mineTo?: ProgramHash
}

/** The parts of a running node, wired together. Interfaces are served over them by api/. */
export interface Node {
  readonly spec: Spec
  readonly directory: DataDirectory
  readonly identity: Identity
  readonly chain: Chain
  readonly reader: ChainReader
  readonly mempool: Mempool
  readonly resolver: Resolver
  readonly devnet: Devnet | undefined
  /** The clock that the chain lives by: the virtual one on a devnet. */
  readonly clock: Clock
  /** Rejects when the node cannot go on: a failed write, a broken invariant. */
  readonly failure: Promise<never>
  close(): Promise<void>
}

/** Opens a ledger: directory, database with its start-up checks, chain. */
export async function openLedger(
  spec: Spec,
  directory: DataDirectory,
  verifier: Verifier,
  env: Env,
): Promise<{
  chain: Chain
  database: Database
  clock: Clock
  virtualClock: VirtualClock | undefined
  signatures: SignatureCache
}> {
  const database = await Database.open(directory.database)
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
  const { spec, env } = options
  selfTest()
  const directory = await DataDirectory.open(options.dataDir)
  const verifier = createVerifierPool({ log: env.log })
  const closers: (() => Promise<void>)[] = [() => directory.close(), () => verifier.close()]
  const close = async () => {
    const failures: unknown[] = []
    for (const closer of closers.splice(0).reverse()) await closer().catch((error: unknown) => failures.push(error))
    if (failures.length > 0) throw failures[0]
  }
  try {
    const { chain, database, clock, virtualClock, signatures } = await openLedger(spec, directory, verifier, env)
    closers.push(
      () => database.close(),
      () => chain.close(),
    )
    const stopped = new Promise<never>((_, reject) => chain.events.once('fatal', reject))
    const failure = Promise.race([stopped, database.failure])
    failure.catch(() => {})
    const mempool = await Mempool.open({ chain, verifier, signatures, clock: env.clock, log: env.log })
    closers.push(() => mempool.close())
    closers.push(repeat(env, expiryInterval, () => mempool.expire()))
    const identity = await loadIdentity(directory.peerKey, env.random)
    const reader = new ChainReader(chain)
    const tip = () => chain.tip.header
    // Without peers nobody can have proved a better tip.
    const sync = () => ({ catchingUp: false, height: chain.tip.header.height, target: chain.tip.header.height })
    const resolver = new Resolver({ database, clock, tip, sync })

    let devnet: Devnet | undefined
    if (virtualClock !== undefined) {
      const mining = options.mining ?? { kind: 'automine' }
      devnet = new Devnet({ ...env, chain, mempool, clock: virtualClock, mining })
      closers.push(() => (devnet as Devnet).stop())
      devnet.start()
    }
    if (options.mineTo !== undefined) {
      const miner = new Miner({ ...env, chain, mempool, payTo: options.mineTo })
      closers.push(() => miner.stop())
      miner.start()
    }
    return { spec, directory, identity, chain, reader, mempool, resolver, devnet, clock, failure, close }
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
