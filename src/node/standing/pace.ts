import { twoHours } from '../../ledger/consensus/context.js'
import { quorum, type Spec } from '../../base/primitives/spec.js'
import { timeoutOf } from '../../voting/tendermint/machine-events.js'

/** How long the parts of a chain take at most while it is well, from its spec. All in milliseconds. */

/** Share of the expected time that a chain may take before it counts as stalled. */
const slack = 2
/** Block spacings without a block after which miners count as gone; by chance it happens once in 10^13 blocks. */
export const sparestSpacings = 30
/** The least that is waited for a block, or for votes, however short the timers of a chain are. */
const leastForBlock = 30_000
const leastForVotes = 10_000
/** The least difference of clocks that is reported. */
const leastDrift = 10_000
/** Age of a block at its arrival, in block spacings, that miners may cause: they work on a template for a while. */
const templateSpacings = 10
/** Block spacings without a block after which the tip of miners counts as old; a light resolver allows as many. */
const missedSpacings = 12
/** Longest time for a proposal, its votes and the way of a block, besides the times in the spec. */
const transport = 30_000
/** How long a node that expects peers may have none that shows its chain. */
export const alonePatience = 30_000
/** How long a follower in step stays so while the node that it follows is not: that one may start again, and meet its peers. */
export const followedPatience = 15_000
/**
 * Time between two looks at the peers after which what they said is old: so long the node is also without news of a peer that has no new
 * block. A busy machine is late by seconds; one that is later has as little idea of the chain as one that slept.
 */
export const lookPatience = 10_000
/** How long peers that claim to have more may keep a node out of step without showing any of it. */
export const askPatience = 10_000
/** How long a block takes at most from its header to the chain, and how many blocks may be on their way at once. */
export const fetchPatience = 2_000
export const blocksOnTheWay = 2
/** Timers of a view: for the proposal, for prevotes and for precommits. */
const timersOfView = 3

type PacedSpec = Pick<Spec, 'timing' | 'maxViewTimeout' | 'producer' | 'retarget' | 'hasValidators'>

/** A whole view with all of its timers. */
function viewLength({ timing, maxViewTimeout }: PacedSpec, view: number): number {
  return timersOfView * timeoutOf(view, timing, maxViewTimeout)
}

/** How long a step of a view may lack a quorum of votes. */
export function votePatience(spec: PacedSpec, view: number): number {
  return Math.max(leastForVotes, viewLength(spec, view))
}

/**
 * How long the chain may go without a block: twice the block interval and as many views as it takes when all proposers that may
 * fail do so in a row; where miners make the blocks, also {@link sparestSpacings} of the spacing that the chain aims at.
 */
export function blockPatience(spec: PacedSpec, validators: number): number {
  const { timing, producer, retarget } = spec
  const mined = producer === 'miners' ? sparestSpacings * retarget.spacing * 1000 : 0
  if (!spec.hasValidators) return Math.max(leastForBlock, mined)
  const interval = producer === 'miners' ? timing.minInterval : Math.max(timing.minInterval, timing.emptyInterval)
  const faulty = validators - quorum(validators)
  const views = Array.from({ length: faulty + 1 }, (_, view) => viewLength(spec, view))
  return Math.max(leastForBlock, mined + slack * (interval + views.reduce((sum, length) => sum + length, 0)))
}

/** The age that the tip of an advancing chain has at most; a light resolver takes no older block for the newest. */
export function tipPatience({ producer, timing, maxViewTimeout, retarget }: PacedSpec): number {
  if (producer === 'miners') return missedSpacings * retarget.spacing * 1000
  const interval = Math.max(timing.minInterval, timing.emptyInterval)
  return interval + maxViewTimeout + timing.maxDrift + transport
}

/** How far the time of a tip is ahead of a right clock at most: validators vote for none that is, miners may go as far as the rule. */
export function mostAhead(spec: PacedSpec): number {
  return spec.hasValidators ? tipPatience(spec) : twoHours * 1000
}

/** How long a node whose peers have blocks of the future waits for one that it can take. */
export function clockPatience({ retarget, hasValidators }: PacedSpec): number {
  return Math.max(leastForBlock, hasValidators ? 0 : retarget.spacing * 1000)
}

/** Differences of clocks beyond which they are reported. */
export interface ClockBounds {
  /** The others are ahead: the node takes their blocks for blocks of the future. */
  readonly behind: number
  /** The others are behind. Wider, since a block is of some age when it arrives. */
  readonly ahead: number
}

export function clockBounds(spec: PacedSpec): ClockBounds {
  const { timing, retarget, producer, hasValidators } = spec
  const spacing = retarget.spacing * 1000
  const behind = Math.max(leastDrift, timing.maxDrift, hasValidators ? 0 : spacing)
  const age = producer === 'miners' ? templateSpacings * spacing : viewLength(spec, 0)
  return { behind, ahead: behind + age }
}
