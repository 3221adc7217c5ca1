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
import { checkJournal } from '../ledger/storage/care/check-journal.js'
import { Database } from '../ledger/storage/database.js'
import type { DataDirectory } from '../ledger/storage/directory.js'
import { meta } from '../ledger/storage/rows/tables.js'
import type { ShippingTerms } from '../ledger/storage/write/outbox.js'
import { bytesToCheck, checkFiles } from '../ledger/storage/care/start-check.js'

/** A chain with what it stands on. */
export interface Ledger {
  readonly chain: Chain
  readonly database: Database
  /** The clock of the chain: the virtual one on a devnet. */
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
  /** Last blocks that keep their transactions; absent: all do. */
  readonly keepBlocks?: number
  /** Last blocks whose operations leave the documents before them in place; absent: all do. */
  readonly keepDocuments?: number
  /** Whether every state of the map of DIDs is kept for proofs. */
  readonly archiveProofs?: boolean
  /** Terms under which its rows are for shards too. */
  readonly ships?: ShippingTerms
  /** Takes the progress. */
  readonly onStep?: (step: OpenStep) => void
}

/** Units of the stages of an opening. */
export const stepUnits = { files: 'tables', map: 'leaves', days: 'blocks', blocks: 'blocks' } as const

/** How far an opening is. */
export interface OpenStep {
  readonly stage: keyof typeof stepUnits
  readonly done: number
  /** Absent: unknown. */
  readonly total?: number
}

/** Thrown by `onStep` to end an opening: its files are closed as at a stop, and the next start checks no more for it. */
export class StoppedStart extends Error {}

/** Opens a ledger: directory, database with its start-up checks, chain. */
export async function openLedger(
  spec: Spec,
  directory: DataDirectory,
  verifier: Verifier,
  env: Env,
  { databaseCache, runs, keepBlocks, keepDocuments, archiveProofs, ships, onStep = () => {} }: OpenOptions = {},
): Promise<Ledger> {
  const at = (stage: OpenStep['stage']) => (done: number, total: number) => onStep({ stage, done, total })
  await checkFiles(directory.database, runs === undefined ? Infinity : bytesToCheck(runs), at('files'))
  // Before it is opened: LevelDB begins to rewrite its tables at once.
  if (runs !== undefined) await directory.noteUnfinishedRuns(runs + 1)
  const durable = !directory.temporary
  const database = await Database.open(directory.database, databaseCache, { ships, durable }).catch(
    async (error: unknown) => {
      if (runs !== undefined) await directory.noteUnfinishedRuns(runs)
      throw error
    },
  )
  try {
    const span = await checkJournal(database)
    const { hash: genesis } = genesisBlock(spec).header
    const empty = database.get(meta.tip.key) === undefined
    const claim = async () => {
      await directory.claim(spec.name, genesis, empty)
      // The spec that the node runs decides the upgrades.
      await directory.keepSpec(spec.text, { replace: runs !== undefined })
    }
    // A database with blocks may refuse the spec, which the directory must not keep then.
    await (empty ? claim() : directory.requireChain(genesis))
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
      onMade: (stage, done, total) => onStep({ stage, done, ...defined({ total }) }),
      ...defined({ keepBlocks, keepDocuments, archiveProofs }),
    })
    if (!empty) await claim()
    await checkRecentBlocks(chain, span, at('blocks'))
    if (virtualClock !== undefined) chain.addIndexer(virtualClock)
    return { chain, database, clock, virtualClock, signatures }
  } catch (error) {
    await database.close()
    if (runs !== undefined && error instanceof StoppedStart) await directory.noteUnfinishedRuns(runs)
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
