import type { Chain } from '../ledger/chain/chain.js'
import type { KnownBeyond } from '../network/sync/sync-progress.js'
import type { Clock } from '../base/runtime/env.js'
import type { Standing } from '../answers/resolver/standing.js'
import { watchInterval } from './chain-watch.js'
import { type StepFacts, type StepPolicy, standingOf } from './in-step.js'

export interface StepWatchOptions {
  readonly chain: Pick<Chain, 'spec' | 'tip' | 'seenHeight'>
  readonly clock: Clock
  /** Absent on a devnet and on a node without peers: such a node is in step with itself. */
  readonly sync?: { readonly beyond: KnownBeyond } | undefined
  readonly expectsPeers: boolean
  readonly policy: StepPolicy
}

/** Milliseconds for which a standing holds while the tip does not move: it costs a look at every peer. */
const standingHolds = 20

/** The knowledge of a node without peers. */
const nothingBeyond: KnownBeyond = { asking: false, arriving: false, met: false, behindByClock: false }

/** Keeps what {@link standingOf} needs of the past: how long the tip is the tip, and when a peer showed its chain. */
export class StepWatch {
  readonly #options: StepWatchOptions
  #tip: Chain['tip']
  #tipLooks = 0
  /** Looks since a peer that shows its chain was connected; undefined: never in this run. */
  #aloneLooks: number | undefined
  /** Looks at which a peer was asked that has shown nothing, since the node was in step last. */
  #askedLooks = 0
  #before = false
  #everInStep = false
  #last: { readonly now: number; readonly tip: Chain['tip']; readonly standing: Standing } | undefined

  constructor(options: StepWatchOptions) {
    this.#options = options
    this.#tip = options.chain.tip
  }

  /** To be called every {@link watchInterval}; time is counted in looks where the clock may be wrong. */
  look(): void {
    if (this.#options.chain.tip === this.#tip) this.#tipLooks++
    if (this.#aloneLooks !== undefined) this.#aloneLooks++
    const { asking = false, arriving = false } = this.#options.sync?.beyond ?? {}
    if (asking && !arriving) this.#askedLooks++
    this.#last = undefined
    this.standing()
  }

  /** The standing at this moment. */
  standing(): Standing {
    const { chain, clock } = this.#options
    const { tip } = chain
    const now = clock.now()
    const last = this.#last
    if (last?.tip === tip && now >= last.now && now - last.now < standingHolds) return last.standing
    const standing = this.#judge(now)
    this.#last = { now, tip, standing }
    return standing
  }

  #judge(now: number): Standing {
    const { chain, sync, expectsPeers, policy } = this.#options
    const { height, time } = chain.tip.header
    const { seenHeight: seen } = chain
    if (sync === undefined && height >= seen)
      return { inStep: true, height, age: Math.max(0, Math.floor(now / 1000) - time) }
    this.#follow()
    const beyond = sync?.beyond ?? nothingBeyond
    if (beyond.met) this.#aloneLooks = 0
    const facts: StepFacts = {
      ...{ spec: chain.spec, tip: { height, time }, seen, now, beyond, expectsPeers },
      held: this.#tipLooks * watchInterval,
      asked: this.#askedLooks * watchInterval,
      alone: this.#aloneLooks === undefined ? undefined : this.#aloneLooks * watchInterval,
      ...{ before: this.#before, everInStep: this.#everInStep },
    }
    const standing = standingOf(facts, policy)
    this.#before = standing.inStep
    if (standing.inStep) this.#askedLooks = 0
    this.#everInStep ||= standing.inStep
    return standing
  }

  #follow(): void {
    const { tip } = this.#options.chain
    if (tip === this.#tip) return
    this.#tip = tip
    this.#tipLooks = 0
  }
}
