import { Chain } from '../chain/chain.js'
import { checkRecentBlocks } from '../chain/check-recent-blocks.js'
import { SignatureCache } from '../crypto/signature-cache.js'
import type { Verifier } from '../crypto/verifier.js'
import { createVerifierPool } from '../crypto/verifier-pool.js'
import { VirtualClock } from '../devnet/clock.js'
import { genesisBlock } from '../primitives/genesis.js'
import type { Spec } from '../primitives/spec.js'
import type { Clock, Env } from '../runtime/env.js'
import { checkJournal } from '../storage/check-journal.js'
import { Database } from '../storage/database.js'
import type { DataDirectory } from '../storage/directory.js'
import { keys } from '../storage/schema.js'
import { bytesToCheck, checkFiles } from '../storage/start-check.js'

/** A chain with what it stands on. */
export interface Ledger {
  readonly chain: Chain
  readonly database: Database
  /** The clock that the chain lives by: the virtual one on a devnet. */
  readonly clock: Clock
  readonly virtualClock: VirtualClock | undefined
  readonly signatures: SignatureCache
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
  { databaseCache, runs }: { readonly databaseCache?: number; readonly runs?: number } = {},
): Promise<Ledger> {
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
