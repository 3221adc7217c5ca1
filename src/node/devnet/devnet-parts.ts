import type { Chain } from '../../ledger/chain/chain.js'
import type { Mempool } from '../../ledger/mempool/mempool.js'
import type { SignatureCache } from '../../base/crypto/signature-cache.js'
import type { Log, Random, Timers } from '../../base/runtime/env.js'
import type { VirtualClock } from './clock.js'

/** The parts of a node that the extras of a devnet work with; each names those that it takes. */
export interface DevnetParts {
  readonly chain: Chain
  readonly mempool: Mempool
  /** Signatures that the chain need not verify. */
  readonly signatures: SignatureCache
  readonly clock: VirtualClock
  readonly timers: Timers
  readonly random: Random
  readonly log: Log
}
