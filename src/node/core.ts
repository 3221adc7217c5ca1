import type { Chain } from '../ledger/chain/chain.js'
import type { SignatureCache } from '../base/crypto/signature-cache.js'
import type { Verifier } from '../base/crypto/verifier.js'
import { Mempool } from '../ledger/mempool/mempool.js'
import type { PoolLimits } from '../ledger/mempool/policy.js'
import { Network, type NetworkOptions } from '../network/network.js'
import { defined } from '../base/primitives/defined.js'
import type { ProgramHash } from '../base/primitives/address.js'
import type { Env } from '../base/runtime/env.js'
import type { SignStore } from '../voting/sign-state-file.js'
import type { KeyHolder } from '../voting/key-holder.js'
import type { SignReset } from '../voting/signer.js'
import type { VoteNetwork } from '../voting/vote-network.js'
import { Voting } from '../voting/voting.js'

/** How a node takes part in a network. */
export type CorePeering = Pick<NetworkOptions, 'transport' | 'publicKey' | 'settings' | 'assumeValid' | 'keeper'>

/** A key that votes: a 32-byte private key with the store of its sign state, or a holder of both. */
export type CoreValidator = (
  | { readonly key: Uint8Array; readonly signStore: SignStore }
  | { readonly holder: KeyHolder }
) & {
  readonly resetSignState?: SignReset
}

export interface CoreOptions {
  readonly chain: Chain
  readonly verifier: Verifier
  readonly signatures: SignatureCache
  readonly env: Env
  readonly poolLimits?: Partial<PoolLimits>
  /** Takes the progress of reading the stored pool; without `total`: how much there is is unknown. */
  readonly onPool?: (done: number, total?: number) => void
  /** Whether it follows another node: no pool, no vote. */
  readonly follows?: boolean
  /** Absent: no peers. */
  readonly peering?: CorePeering
  readonly validator?: CoreValidator
  /** Address that blocks of the validator pay; its own if absent. */
  readonly payTo?: ProgramHash
}

/**
 * Parts that make a node one of a network: its pool, its part in the voting and its peers around a chain. Everything of the outside world
 * is passed in, so that a simulator can own it.
 */
export interface Core {
  readonly mempool: Mempool
  /** On a chain with validators that is no devnet. */
  readonly voting: Voting | undefined
  readonly network: Network | undefined
  /** Begins to vote and to talk to others; a UserError where it cannot listen. */
  start(): Promise<void>
  /** Ends all of it, the chain excepted. */
  close(): Promise<void>
}

/** The network of a node without peers. */
const noNetwork: VoteNetwork = { broadcast: () => {}, fetch: () => Promise.resolve(undefined) }

/** Loads what is stored; nothing is sent before {@link Core.start}. */
export async function openCore(options: CoreOptions): Promise<Core> {
  const {
    chain,
    verifier,
    signatures,
    env,
    poolLimits = {},
    onPool,
    peering,
    validator,
    payTo,
    follows = false,
  } = options
  const stored = { limits: poolLimits, ...defined({ onStored: onPool }) }
  const mempool = await Mempool.open({ ...env, chain, verifier, signatures, ...stored, closed: follows })
  const dependencies = { ...env, chain, mempool, verifier }
  const network =
    peering === undefined ? undefined : await Network.open({ ...dependencies, ...peering, hasPool: !follows })
  const voting =
    chain.spec.hasValidators && !chain.spec.devnet && !follows
      ? await Voting.open({ ...dependencies, ...validator, payTo, network: network?.votes ?? noNetwork })
      : undefined
  return {
    mempool,
    voting,
    network,
    start: async () => {
      voting?.start()
      await network?.start(voting)
    },
    close: async () => {
      await network?.close()
      await voting?.close()
      await mempool.close()
    },
  }
}
