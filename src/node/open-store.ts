import { createVerifierPool } from '../base/crypto/verifier-pool.js'
import type { Verifier } from '../base/crypto/verifier.js'
import { UserError } from '../base/errors/rule-error.js'
import { defined } from '../base/primitives/defined.js'
import type { ResourceStack } from '../base/runtime/resource-stack.js'
import { Pruner } from '../ledger/chain/pruner.js'
import type { ShippingFigures } from '../ledger/shipping/shipping-figures.js'
import { DataDirectory } from '../ledger/storage/directory.js'
import { watchDirectory } from './directory-watch.js'
import type { NodeOptions } from './node.js'
import { type Ledger, openLedger } from './open-ledger.js'
import { openShards, shipRows } from './ship-rows.js'
import { requireJoinable } from './taken-state.js'

/** A ledger with its directory and its verifier. */
export interface Store extends Ledger {
  readonly directory: DataDirectory
  readonly verifier: Verifier
  readonly failure: Promise<never>
  readonly shipping?: ShippingFigures
}

export async function openStore(options: NodeOptions, stack: ResourceStack): Promise<Store> {
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
