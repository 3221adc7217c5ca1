import type { Chain } from '../../ledger/chain/chain.js'
import type { KnownBeyond } from '../../network/sync/sync-progress.js'
import type { Clock } from '../../base/runtime/env.js'
import { processTime } from '../../base/runtime/process-env.js'
import type { Standing } from '../../answers/resolver/standing.js'
import type { Voting } from '../../voting/voting.js'
import { watchInterval } from './chain-watch.js'
import type { NodeWord } from './node-word.js'
import { type StepFacts, type StepPolicy, standingOf } from './in-step.js'
import { alonePatience, lookPatience } from './pace.js'

export interface StepWatchOptions {
  readonly chain: Pick<Chain, 'spec' | 'tip' | 'seenHeight'>
  readonly clock: Clock
  /** A clock that is never set, and may stand still while the machine sleeps; absent: that of the process. */
  readonly steady?: Clock
  /** Absent on a devnet and on a node without peers: such a node is in step with itself. */
  readonly sync?: { readonly beyond: KnownBeyond; askAnew(slept: boolean): void } | undefined
  /** Absent: no validators. */
  readonly voting?: Pick<Voting, 'signedHeight'> | undefined
  readonly expectsPeers: boolean
  /** Whether the node had peers in an earlier run: those may have more by now. */
  readonly hadPeers?: boolean
  /** Word of the node that a follower follows; absent for other nodes. */
  readonly followed?: { readonly word: NodeWord | undefined; readonly isRing?: boolean } | undefined
  readonly policy: StepPolicy
}

/** Milliseconds for which a standing holds while the tip does not move: it costs a look at every peer. */
const standingHolds = 20

/** The knowledge of a node without peers. */
const nothingBeyond: KnownBeyond = { asking: false, arriving: false, met: false, behindByClock: false }

/** A time without looks, after which what the node knows of its peers is old. */
interface Standstill {
  /** 0: the time before it started. */
  readonly milliseconds: number
  /** The clock and the tip at its end. */
  readonly end: number
  readonly tip: Chain['tip']
  /** Looks since. */
  looks: number
}

/**
 * Keeps what {@link standingOf} needs of the past: how long the tip is the tip, when a peer showed its chain, and whether the node stood still.
 *
 * Each question compares both clocks with the last look, since it may come before the timer after the machine, or the process, slept. The
 * clock that can be set advances in each sleep, the steady one while the process alone is stopped.
 */
export class StepWatch {
  readonly #options: StepWatchOptions
  readonly #steady: Clock
  #tip: Chain['tip']
  #tipLooks = 0
  /** Looks since a peer that shows its chain was connected; undefined: never in this run. */
  #aloneLooks: number | undefined
  /** Looks at which a peer was asked that has shown nothing, since the node was in step last. */
  #askedLooks = 0
  /** Looks at which the node that is followed said that it is not in step, since it last said otherwise, or nothing. */
  #doubtedLooks = 0
  #before = false
  #everInStep = false
  #last: { readonly now: number; readonly tip: Chain['tip']; readonly standing: Standing } | undefined
  /** Both clocks at the last look or question. */
  #seenNow: number
  #seenSteady: number
  #standstill: Standstill | undefined

  constructor(options: StepWatchOptions) {
    const { chain, clock, steady = processTime, sync, expectsPeers, hadPeers = false } = options
    this.#options = options
    this.#steady = steady
    this.#tip = chain.tip
    this.#seenNow = clock.now()
    this.#seenSteady = steady.now()
    // One that expects peers waits for them anyway.
    if (hadPeers && !expectsPeers && sync !== undefined)
      this.#standstill = { milliseconds: 0, end: this.#seenNow, tip: chain.tip, looks: 0 }
  }

  /** To be called every {@link watchInterval}; time is counted in looks where the clock may be wrong. */
  look(): void {
    if (this.#options.chain.tip === this.#tip) this.#tipLooks++
    if (this.#aloneLooks !== undefined) this.#aloneLooks++
    if (this.#standstill !== undefined) this.#standstill.looks++
    const { asking = false, arriving = false } = this.#options.sync?.beyond ?? {}
    if (asking && !arriving) this.#askedLooks++
    const { word } = this.#options.followed ?? {}
    this.#doubtedLooks = word === undefined || word.inStep ? 0 : this.#doubtedLooks + 1
    this.#last = undefined
    this.standing()
  }

  /** The standing at this moment. */
  standing(): Standing {
    const { chain, clock } = this.#options
    const { tip } = chain
    const now = clock.now()
    this.#noteTime(now)
    const last = this.#last
    if (last?.tip === tip && now >= last.now && now - last.now < standingHolds) return last.standing
    const standing = this.#judge(now)
    this.#last = { now, tip, standing }
    return standing
  }

  #judge(now: number): Standing {
    const { chain, sync, voting, expectsPeers, followed, policy } = this.#options
    const { word, isRing = false } = followed ?? {}
    const { height, time } = chain.tip.header
    const { seenHeight: seen } = chain
    const signed = voting?.signedHeight ?? 0
    if (sync === undefined && height >= Math.max(seen, signed - 1))
      return { inStep: true, height, age: Math.max(0, Math.floor(now / 1000) - time) }
    this.#follow()
    const beyond = sync?.beyond ?? nothingBeyond
    if (beyond.met) this.#aloneLooks = 0
    this.#endStandstill(beyond)
    const facts: StepFacts = {
      ...{ spec: chain.spec, tip: { height, time }, seen, signed, now, beyond, expectsPeers },
      held: this.#tipLooks * watchInterval,
      asked: this.#askedLooks * watchInterval,
      alone: this.#aloneLooks === undefined ? undefined : this.#aloneLooks * watchInterval,
      followed: word && { word, doubted: this.#doubtedLooks * watchInterval, isRing },
      stoodStill: this.#standstill?.milliseconds,
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

  /** Notes the time of this look or question, and begins a standstill if the one before is too long ago by either clock. */
  #noteTime(now: number): void {
    const steady = this.#steady.now()
    const passed = steady - this.#seenSteady
    const elapsed = now - this.#seenNow
    const milliseconds = Math.max(Math.abs(elapsed), passed)
    this.#seenNow = now
    this.#seenSteady = steady
    const { chain, sync, expectsPeers } = this.#options
    if (milliseconds <= lookPatience || sync === undefined) return
    this.#last = undefined
    this.#tipLooks += Math.floor(Math.max(0, passed) / watchInterval)
    const hadPeers = this.#aloneLooks !== undefined && this.#aloneLooks * watchInterval <= alonePatience
    // A node that neither expects peers nor had any makes the chain by itself.
    if (expectsPeers || hadPeers) {
      this.#standstill = { milliseconds, end: now, tip: chain.tip, looks: 0 }
      this.#before = false
    }
    // The steady clock stands still while the machine sleeps.
    sync.askAnew(elapsed - passed > lookPatience)
  }

  #endStandstill({ met }: KnownBeyond): void {
    const standstill = this.#standstill
    if (standstill === undefined) return
    const { expectsPeers, chain } = this.#options
    // A quorum made it. One on its way while the node stood still is of a time before the end, and a mined one may be its own.
    const isNewBlock = chain.tip !== standstill.tip && chain.tip.header.time * 1000 >= standstill.end
    const isAlone = !expectsPeers && standstill.looks * watchInterval > alonePatience
    if (met || (chain.spec.hasValidators && isNewBlock) || isAlone) this.#standstill = undefined
  }
}
