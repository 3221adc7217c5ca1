/**
 * Says where a node stands: whether it is in step with its chain, and whether that has new blocks.
 *
 *   chain, sync, votes, clock, the word of a followed node -> StepWatch -> in-step -> Standing: what the node may deny
 *                                                          -> ChainWatch -> stall, clock offset: warnings to the owner
 *
 * Imports api, runtime, primitives, chain, consensus, resolver, network, voting; used by node, gateway.
 * - What others say can only take a node out of step, never put it in step.
 */
import type { KnownBeyond } from '../../network/sync/sync-progress.js'
import type { Spec } from '../../base/primitives/spec.js'
import type { OutOfStep, Standing, StepReason } from '../../answers/resolver/standing.js'
import type { NodeWord } from './node-word.js'
import {
  alonePatience,
  askPatience,
  blocksOnTheWay,
  fetchPatience,
  followedPatience,
  mostAhead,
  tipPatience,
} from './pace.js'

/**
 * Decides whether a node is in step with its chain: whether it may say that something does not exist, and what is so now.
 *
 * The decision rests on the chain: only the present validators, or miners, can make a recent tip. Claims of peers can only turn it to no.
 * A node in step stays so while a block is being fetched; one that is not gets in step when none is being fetched. So it changes once in a
 * join.
 */

/** The facts on which the decision rests. Times in milliseconds. */
export interface StepFacts {
  readonly spec: Pick<Spec, 'timing' | 'maxViewTimeout' | 'producer' | 'retarget' | 'hasValidators'>
  /** The time of the tip in Unix seconds. */
  readonly tip: { readonly height: number; readonly time: number }
  /** Height up to which the chain is known to have gone when a state of it was taken; 0 without one. */
  readonly seen: number
  /** Height at which the key of this node signed, on the block below it; 0: none. */
  readonly signed: number
  /** The clock, which may be wrong. */
  readonly now: number
  /** Since the tip became the tip here, counted while the node runs; it grows when the clock is set back, too. */
  readonly held: number
  readonly beyond: KnownBeyond
  readonly expectsPeers: boolean
  /** For how long peers were asked that said they have more and showed nothing, since it was in step last. */
  readonly asked: number
  /** Since a peer that showed its chain was connected; undefined: there was none in this run. */
  readonly alone: number | undefined
  /**
   * Word of the node that a follower follows, for how long that was not in step, and whether that takes its blocks from this one; undefined:
   * there is none, or it says nothing.
   */
  readonly followed?: { readonly word: NodeWord; readonly doubted: number; readonly isRing?: boolean } | undefined
  /**
   * For how long the node, or its clock, stood still, while no peer has shown its chain since, and no quorum made a block; 0: it started, and
   * had peers before; undefined: neither.
   */
  readonly stoodStill: number | undefined
  /** Whether it was in step at the last look, and at any of this run. */
  readonly before: boolean
  readonly everInStep: boolean
}

/** The owner's settings for a node out of step. */
export interface StepPolicy {
  /** Milliseconds: so old may the tip of a chain that pauses become. */
  readonly staleAfter: number
  /** Whether all questions are answered all the time. */
  readonly always: boolean
}

interface Lack {
  readonly reason: StepReason
  readonly missing: string
}

/** Decides the standing of a node from its facts. */
export function standingOf(facts: StepFacts, policy: StepPolicy): Standing {
  const { tip, now } = facts
  const place = { height: tip.height, age: Math.max(0, Math.floor(now / 1000) - tip.time) }
  const lacks = lacksOf(facts)
  const [first] = lacks
  if (first === undefined) return { ...place, inStep: true }
  return { ...place, inStep: false, ...first, answers: answersOf(facts, lacks, policy) }
}

/** The most telling one first. */
function lacksOf(facts: StepFacts): readonly Lack[] {
  const lacks = [
    stateLack(facts),
    signedLack(facts),
    blocksLack(facts),
    clockLack(facts),
    askedLack(facts),
    followedLack(facts),
    peersLack(facts),
    ageLack(facts),
  ]
  return lacks.filter((lack) => lack !== undefined)
}

/** A node that was in step and has learned of nothing better has what there was: its answers are true as of their age. */
function answersOf(facts: StepFacts, lacks: readonly Lack[], { staleAfter, always }: StepPolicy): OutOfStep['answers'] {
  if (always) return 'all'
  const pauses = facts.everInStep && lacks.every(({ reason }) => reason === 'old' || reason === 'alone')
  return pauses && tipAge(facts) <= staleAfter ? 'found' : 'none'
}

/** The greater of the age by the clock and the time waited: one of them may be wrong, both hardly. */
function tipAge({ now, tip, held }: StepFacts): number {
  return Math.max(now - tip.time * 1000, held)
}

function stateLack({ seen, tip }: StepFacts): Lack | undefined {
  if (tip.height >= seen) return undefined
  return {
    reason: 'behind',
    missing: `the state that it began with was taken from a chain that reached height ${seen}`,
  }
}

/** A chain that was put back to an older copy, beside what the key signed since. */
function signedLack({ signed, tip }: StepFacts): Lack | undefined {
  if (signed <= tip.height + 1) return undefined
  const missing = `its key has signed at height ${signed}, so the chain had at least ${signed - 1} blocks; peers or a newer backup have them`
  return { reason: 'behind', missing }
}

function blocksLack({ beyond: { better }, tip, now, before }: StepFacts): Lack | undefined {
  if (better === undefined) return undefined
  const isOnTheWay = better.height - tip.height <= blocksOnTheWay && Math.abs(now - better.since) <= fetchPatience
  if (before && isOnTheWay) return undefined
  return { reason: 'behind', missing: `blocks up to height ${better.height} are proved and not connected yet` }
}

function clockLack(facts: StepFacts): Lack | undefined {
  const { beyond, before } = facts
  const { aheadOfClock, behindByClock } = beyond
  const late = lateBehindTip(facts)
  if (late !== undefined) return late
  // A block of the future says something only on a chain with more work than the own one: any other costs its maker nothing.
  if (aheadOfClock === undefined) return undefined
  if (behindByClock) return clockLate('most peers have blocks that are too far ahead of the clock of this node')
  // One miner can make such a block: it keeps a node from coming into step, never one in step from staying so.
  if (before) return undefined
  return clockLate(`a proved block at height ${aheadOfClock} is too far ahead of the clock of this node`)
}

/** A clock by which the tip is further in the future than a right one allows: by it any tip is young. */
export function lateBehindTip({ spec, tip, now }: Pick<StepFacts, 'spec' | 'tip' | 'now'>): Lack | undefined {
  const ahead = tip.time * 1000 - now
  if (ahead <= mostAhead(spec)) return undefined
  return clockLate(`the time of the tip is ${Math.ceil(ahead / 1000)} s ahead of the clock of this node`)
}

function clockLate(what: string): Lack {
  return { reason: 'clock', missing: `${what}: is the clock right?` }
}

function peersLack({ expectsPeers, alone, stoodStill }: StepFacts): Lack | undefined {
  if (stoodStill !== undefined) {
    const seconds = Math.round(stoodStill / 1000)
    const still = stoodStill === 0 ? 'this node started' : `this node, or its clock, stood still for ${seconds} s`
    return { reason: 'alone', missing: `${still}, and no peer has shown its chain since` }
  }
  if (!expectsPeers || (alone !== undefined && alone <= alonePatience)) return undefined
  const missing =
    alone === undefined
      ? 'no peer has shown its chain yet'
      : `no peer that shows its chain is connected for ${Math.round(alone / 1000)} s`
  return { reason: 'alone', missing }
}

/** A node that is followed may have lost its peers, or join itself: a follower learns of no other chain. */
function followedLack({ followed, before }: StepFacts): Lack | undefined {
  if (followed === undefined || followed.word.inStep) return undefined
  if (before && followed.doubted <= followedPatience) return undefined
  if (followed.isRing) return { reason: 'alone', missing: 'the node that it follows takes its blocks from this one' }
  const { height, target, catchingUp } = followed.word
  if (catchingUp)
    return { reason: 'behind', missing: `the node that it follows is catching up, at height ${height} of ${target}` }
  return { reason: 'alone', missing: 'the node that it follows says that it is not in step itself' }
}

function ageLack(facts: StepFacts): Lack | undefined {
  // The genesis block takes neither the validators nor the work of now.
  if (facts.tip.height === 0) return { reason: 'old', missing: 'no block has followed the genesis block here' }
  const patience = tipPatience(facts.spec)
  if (tipAge(facts) <= patience) return undefined
  return { reason: 'old', missing: `a chain that goes on has a block of the last ${Math.round(patience / 1000)} s` }
}

/** Peers that claim more and send nothing delay a node by `askPatience` together, not each. */
function askedLack({ beyond: { asking, arriving }, before, asked }: StepFacts): Lack | undefined {
  if (before || !asking || (!arriving && asked > askPatience)) return undefined
  return { reason: 'behind', missing: 'a peer that says it has more blocks is being asked for them' }
}
