import { networkDefaults } from '../network/network-options.js'
import { staleAfterDefault } from '../answers/resolver/resolver-options.js'
import { Resolver } from '../answers/resolver/resolver.js'
import type { Standing } from '../answers/resolver/standing.js'
import { defined } from '../base/primitives/defined.js'
import { paramsAt } from '../base/primitives/spec.js'
import { repeat } from '../base/runtime/repeat.js'
import type { ResourceStack } from '../base/runtime/resource-stack.js'
import type { Chain } from '../ledger/chain/chain.js'
import type { Mempool } from '../ledger/mempool/mempool.js'
import type { Mirror } from '../ledger/mirror/mirror.js'
import { Mining, type OwnValidator } from '../ledger/production/mining.js'
import { StateKeeper } from '../ledger/state/state-keeper.js'
import type { Network } from '../network/network.js'
import type { SyncProgress } from '../network/sync/sync-progress.js'
import { Backfill } from './backfill.js'
import { chainProver } from './chain-prover.js'
import { ChainWatch, watchInterval } from './standing/chain-watch.js'
import type { Core } from './core.js'
import type { FollowedWord } from './standing/followed-word.js'
import type { NodeOptions } from './node.js'
import type { Store } from './open-store.js'
import { StepWatch } from './standing/step-watch.js'
import type { WitnessCollector } from './heads/witness-collector.js'

/** Parts of a node over its store; those that run by themselves end with the stack. */

/** Whether peers are named, or may be found: without them the node does not know how far the chain is. */
export function expectsPeers({ peering, followed, tuning = {} }: NodeOptions): boolean {
  if (peering === undefined) return false
  if (followed !== undefined) return true
  const { peers, mdns } = { ...networkDefaults, ...tuning.network }
  return peers.length > 0 || mdns
}

export function stepWatchOf(
  options: NodeOptions,
  { chain, clock }: Store,
  { network, voting }: Core,
  followed: FollowedWord | undefined,
): StepWatch {
  const { staleAfter = staleAfterDefault, answerOutOfStep: always = false } = options.tuning?.resolver ?? {}
  const policy = { staleAfter: staleAfter * 1000, always }
  // Where it is the only validator no one else has made blocks meanwhile.
  const { validators } = paramsAt(chain.spec, chain.tip.header.height + 1)
  const isSole = options.validator !== undefined && validators.length === 1
  const hadPeers = !isSole && network?.peers.hasMet === true
  const sources = { chain, clock, sync: network?.sync, hadPeers, voting, followed }
  return new StepWatch({ ...sources, expectsPeers: expectsPeers(options), policy })
}

export function openResolver(
  { tuning = {} }: NodeOptions,
  { chain, database, clock }: Store,
  standing: () => Standing,
  witnessed: WitnessCollector | undefined,
): Resolver {
  const { cacheBytes, staleAfter: _, answerOutOfStep: __, ...queryLimits } = tuning.resolver ?? {}
  const [tip, prover] = [() => chain.tip.header, chainProver(chain, witnessed?.cosignaturesOf)]
  const cosigned = witnessed && (() => witnessed.version)
  return new Resolver({ database, clock, prover, tip, standing, queryLimits, ...defined({ cacheBytes, cosigned }) })
}

export function openMining(
  { env, tuning = {} }: NodeOptions,
  chain: Chain,
  mempool: Mempool,
  validator?: OwnValidator,
): Mining {
  const { payTo } = tuning.mining ?? {}
  const mining = new Mining({ ...env, chain, mempool, ...defined({ payTo, validator }) })
  if (payTo !== undefined && !chain.spec.hasValidators) mining.start(payTo)
  return mining
}

/** Milliseconds between two looks for signatures of witnesses that a mirror has not. */
const cosignInterval = 1000

/** Writes a mirror until the node closes; undefined: none is asked for. */
export async function openMirrorOf(
  { env, tuning = {}, variables = {}, spec }: NodeOptions,
  { chain, database }: Store,
  { standing, witnessed }: { readonly standing: () => Standing; readonly witnessed: WitnessCollector | undefined },
  stack: ResourceStack,
): Promise<Mirror | undefined> {
  const { to, ...settings } = tuning.mirror ?? {}
  if (to === undefined) return undefined
  const { openMirror } = await import('./node-mirror.js')
  const isInStep = () => spec.devnet || standing().inStep
  const cosigned = defined({ cosignaturesOf: witnessed?.cosignaturesOf })
  const mirror = await openMirror({ to, ...settings }, { chain, database, env, variables, isInStep, ...cosigned })
  stack.defer(() => mirror.close())
  await mirror.start()
  stack.defer(repeat(env, cosignInterval, () => mirror.look()))
  return mirror
}

/** Keeps the state that the blocks commit to for peers; undefined where the node has not what it is made of, or is not to. */
export function keeperOf(
  { env, tuning = {}, followed }: NodeOptions,
  { chain, directory }: Store,
  stack: ResourceStack,
): StateKeeper | undefined {
  const { keepState = true } = tuning.storage ?? {}
  if (!keepState || chain.prunes || chain.spec.coinRoots === undefined || followed !== undefined) return undefined
  const keeper = new StateKeeper({ chain, directory: directory.states, log: env.log })
  stack.defer(() => keeper.close())
  keeper.start()
  return keeper
}

/** Verifies what lies below a state that the node began with, beside everything else. */
export function fillBack(
  { env, tuning = {}, followed }: NodeOptions,
  { chain, directory, verifier }: Store,
  network: Network,
  stack: ResourceStack,
): void {
  const { backfill = true, keepBlocks } = tuning.storage ?? {}
  if (!backfill || keepBlocks !== undefined || chain.prunesDocuments || followed !== undefined) return
  const filling = new Backfill({ ...env, chain, directory: directory.history, verifier, network })
  filling.start()
  stack.defer(() => filling.close())
}

/** Watches the chain until the node closes. */
export function watchOf(
  { env }: NodeOptions,
  chain: Chain,
  { voting, network }: Core,
  sync: () => SyncProgress,
  stack: ResourceStack,
): ChainWatch {
  const { clock, log } = env
  const peers = () => network?.peers.all().length
  const catchingUp = () => sync().catchingUp
  const behindByClock = () => network?.sync.behindByClock ?? false
  const watch = new ChainWatch({ chain, clock, log, voting, peers, catchingUp, behindByClock })
  stack.defer(async () => watch.close())
  stack.defer(repeat(env, watchInterval, () => watch.look()))
  return watch
}
