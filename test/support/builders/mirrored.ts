import { Mirror } from '../../../src/ledger/mirror/mirror.js'
import { mirrorDefaults } from '../../../src/ledger/mirror/mirror-options.js'
import type { MirrorHead } from '../../../src/identity/proofs/mirror-head.js'
import { chainProver } from '../../../src/node/chain-prover.js'
import type { Timers } from '../../../src/base/runtime/env.js'
import { systemRandom } from '../../../src/base/runtime/system-random.js'
import { silentLog } from '../../../src/base/runtime/process-env.js'
import type { MirrorStore } from '../../../src/ledger/mirror/mirror-store.js'
import type { TestChain } from './chain.js'

/** Settings of a mirror of a test. */
export interface MirrorPlan {
  readonly keepBlocks?: number
  readonly keepSeconds?: number
  readonly allVersions?: boolean
  readonly now?: () => number
  readonly timers?: Timers
  readonly isInStep?: () => boolean
  /** Signatures of witnesses of the block of a height. */
  readonly cosignatures?: (height: number) => readonly string[]
  /** Files beside those of the chain. */
  readonly pages?: ReadonlyMap<string, Uint8Array>
}

/** A mirror of a chain of a test. */
export function mirrorOf(
  { chain, database, spec }: Pick<TestChain, 'chain' | 'database' | 'spec'>,
  store: MirrorStore,
  {
    keepBlocks = mirrorDefaults.keepBlocks,
    keepSeconds = 0,
    allVersions = false,
    now = () => 0,
    timers = { after: () => () => {} },
    isInStep = () => true,
    cosignatures = () => [],
    pages = new Map(),
  }: MirrorPlan = {},
): Mirror {
  return new Mirror({
    store,
    place: 'the memory of a test',
    database,
    chain: {
      ...{ spec, genesis: chain.genesis.header.hash, proofs: chainProver(chain) },
      cosignatures: ({ height }) => cosignatures(height),
    },
    events: chain.events,
    clock: { now },
    random: systemRandom,
    timers,
    log: silentLog,
    ...{ keepBlocks, keepSeconds, allVersions },
    about: () => ({}),
    pages,
    isInStep,
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
