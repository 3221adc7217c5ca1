import { Mirror } from '../../../src/ledger/mirror/mirror.js'
import { mirrorDefaults } from '../../../src/ledger/mirror/mirror-options.js'
import type { MirrorHead } from '../../../src/identity/proofs/mirror-head.js'
import { chainProver } from '../../../src/node/chain-prover.js'
import { silentLog } from '../../../src/base/runtime/process-env.js'
import type { MirrorStore } from '../../../src/ledger/mirror/mirror-store.js'
import type { TestChain } from './chain.js'

/** Settings of a mirror of a test. */
export interface MirrorPlan {
  readonly keepBlocks?: number
  readonly keepSeconds?: number
  readonly allVersions?: boolean
  readonly now?: () => number
}

/** A mirror of a chain of a test. */
export function mirrorOf(
  { chain, database, spec }: Pick<TestChain, 'chain' | 'database' | 'spec'>,
  store: MirrorStore,
  { keepBlocks = mirrorDefaults.keepBlocks, keepSeconds = 0, allVersions = false, now = () => 0 }: MirrorPlan = {},
): Mirror {
  return new Mirror({
    store,
    place: 'the memory of a test',
    database,
    chain: { spec, genesis: chain.genesis.header.hash, proofs: chainProver(chain) },
    events: chain.events,
    clock: { now },
    timers: { after: () => () => {} },
    log: silentLog,
    ...{ keepBlocks, keepSeconds, allVersions },
    about: () => ({}),
    pages: new Map(),
    isInStep: () => true,
  })
}

/** Writes a mirror up to the tip, by a process of its own as it were: nothing is known but what the files say. */
export async function mirrorOnce(
  test: Pick<TestChain, 'chain' | 'database' | 'spec'>,
  store: MirrorStore,
  plan: MirrorPlan = {},
): Promise<MirrorHead | undefined> {
  const mirror = mirrorOf(test, store, plan)
  try {
    return await mirror.once()
  } finally {
    await mirror.close()
  }
}
