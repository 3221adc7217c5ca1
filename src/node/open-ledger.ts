import { Chain } from '../ledger/chain/chain.js'
import { checkRecentBlocks } from '../ledger/chain/check-recent-blocks.js'
import { SignatureCache } from '../base/crypto/signature-cache.js'
import type { Verifier } from '../base/crypto/verifier.js'
import { createVerifierPool } from '../base/crypto/verifier-pool.js'
import { VirtualClock } from './devnet/clock.js'
import { genesisBlock } from '../base/primitives/genesis.js'
import { defined } from '../base/primitives/defined.js'
import type { Spec } from '../base/primitives/spec.js'
import type { Clock, Env } from '../base/runtime/env.js'
import { checkJournal, otherLayout } from '../ledger/storage/check-journal.js'
import { Database, reindexHint, StorageError } from '../ledger/storage/database.js'
import type { DataDirectory } from '../ledger/storage/directory.js'
import { layoutOf, migrateLayout } from '../ledger/storage/migrate-layout.js'
import { keys, schemaVersion } from '../ledger/storage/schema.js'
import { bytesToCheck, checkFiles } from '../ledger/storage/start-check.js'

/** A chain with what it stands on. */
export interface Ledger {
  readonly chain: Chain
  readonly database: Database
  /** The clock that the chain lives by: the virtual one on a devnet. */
  readonly clock: Clock
  readonly virtualClock: VirtualClock | undefined
  readonly signatures: SignatureCache
}

/** How a ledger is opened. */
export interface OpenOptions {
  /** Bytes of the database's cache. */
  readonly databaseCache?: number
  /** Consecutive runs that did not end; without it all files are looked at before LevelDB reads them. */
  readonly runs?: number
  /** Whether a layout of the version before is changed; otherwise it is refused. */
  readonly migrate?: boolean
  /** Last blocks that keep their transactions; absent: all do. */
  readonly keepBlocks?: number
  /** Whether every state of the map of DIDs is kept for proofs. */
  readonly archiveProofs?: boolean
  /** Takes the progress. */
  readonly onStep?: (step: OpenStep) => void
}

/** What the stages of an opening count. */
export const stepUnits = { files: 'tables', layout: 'DIDs', map: 'leaves', blocks: 'blocks' } as const

/** How far an opening is. */
export interface OpenStep {
  readonly stage: keyof typeof stepUnits
  readonly done: number
  /** Absent: unknown. */
  readonly total?: number
}

/**
 * Opens a ledger: directory, database with its start-up checks, chain. A database of the layout before is changed with
 * `migrate`, and refused without.
 */
export async function openLedger(
  spec: Spec,
  directory: DataDirectory,
  verifier: Verifier,
  env: Env,
  { databaseCache, runs, migrate = false, keepBlocks, archiveProofs, onStep = () => {} }: OpenOptions = {},
): Promise<Ledger> {
  const at = (stage: OpenStep['stage']) => (done: number, total: number) => onStep({ stage, done, total })
  await checkFiles(directory.database, runs === undefined ? Infinity : bytesToCheck(runs), at('files'))
  // Before it is opened: LevelDB begins to rewrite its tables at once.
  if (runs !== undefined) await directory.noteUnfinishedRuns(runs + 1)
  const database = await Database.open(directory.database, databaseCache).catch(async (error: unknown) => {
    if (runs !== undefined) await directory.noteUnfinishedRuns(runs)
    throw error
  })
  try {
    const span = await checkJournal(database)
    await directory.claim(spec.name, genesisBlock(spec).header.hash, database.get(keys.meta('tip')) === undefined)
    // A node knows the upgrades of its chain best.
    await directory.keepSpec(spec.text, { replace: runs !== undefined })
    if (span.isOlderLayout) await bringUp(database, env, migrate, at('layout'))
    const virtualClock = spec.devnet ? new VirtualClock(env.clock, database) : undefined
    const clock = virtualClock ?? env.clock
    const signatures = new SignatureCache()
    const chain = await Chain.open({
      spec,
      database,
      verifier,
      signatures,
      clock,
      log: env.log,
      onMap: (done) => onStep({ stage: 'map', done }),
      ...defined({ keepBlocks, archiveProofs }),
    })
    await checkRecentBlocks(chain, span, at('blocks'))
    if (virtualClock !== undefined) chain.addIndexer(virtualClock)
    return { chain, database, clock, virtualClock, signatures }
  } catch (error) {
    await database.close()
    throw error
  }
}

/** Changes the layout of a database. */
async function bringUp(
  database: Database,
  { log }: Env,
  migrate: boolean,
  progress: (done: number, total: number) => void,
): Promise<void> {
  const layout = layoutOf(database)
  if (!migrate) {
    const how =
      'a node changes it at its start unless --no-migrate forbids that, and versions before cannot open it then'
    throw new StorageError(`${otherLayout(layout)}; ${how}; or build it again from its blocks: ${reindexHint}`)
  }
  log.warn({ from: layout, to: schemaVersion }, 'the layout of the database is changed; a stop does no harm')
  let dids = 0
  await migrateLayout(database, ({ done, total }) => {
    dids = total
    progress(done, total)
  })
  log.warn({ dids, layout: schemaVersion }, 'the layout of the database is changed: older versions cannot open it')
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
