import type { ChainStall, StallReason } from '../../answers/api/node-handles.js'
import { toHex } from '../../base/primitives/bytes.js'
import { quorum, type Spec } from '../../base/primitives/spec.js'
import type { ReceivedVotes } from '../../voting/received-votes.js'
import type { Step } from '../../voting/tendermint/message.js'
import { blockPatience, clockPatience, sparestSpacings, votePatience } from './pace.js'

/** Hex digits of a public key by which a validator is named. */
const keyDigits = 12
/**
 * The others are counted.
 * @tuning count: missing validators that the reason of a stall names
 */
const mostNamed = 10

/** State of the chain at this node. Ages in milliseconds, counted while the node runs and is not catching up. */
export interface ChainFacts {
  readonly spec: Pick<Spec, 'timing' | 'maxViewTimeout' | 'producer' | 'retarget' | 'hasValidators'>
  readonly tip: { readonly height: number; readonly time: number }
  /** Since the tip became the tip here, or since the start of the node. */
  readonly tipAge: number
  /** Connected nodes; undefined: the node has no network. */
  readonly peers: number | undefined
  /** Whether most peers have blocks that are too far ahead of the own clock. */
  readonly behindByClock: boolean
  /** The vote on the next block; absent on a chain without validators. */
  readonly vote?: VoteFacts
}

export interface VoteFacts {
  readonly view: number
  readonly step: Step
  /** Since this step of this view began here. */
  readonly stepAge: number
  readonly votes: readonly ReceivedVotes[]
}

/** A stall without the time at which it began. */
export type StallReport = Omit<ChainStall, 'since'>

/**
 * Reason why the chain does not advance at this node; undefined while it does. `before` is the reason already reported for this tip: a
 * stall ends with the next block alone, and its reason is shown as it is now.
 */
export function stallOf(facts: ChainFacts, before?: StallReason): StallReport | undefined {
  const { spec, vote, tipAge } = facts
  const votePause = vote === undefined || before === 'no-quorum' ? 0 : votePatience(spec, vote.view)
  if (vote !== undefined && lacksQuorum(vote) && vote.stepAge >= votePause) return noQuorum(facts, vote)
  // Its own clock keeps it from blocks that are there.
  if (facts.behindByClock && tipAge >= clockPatience(spec)) return { reason: 'tip-old', detail: clockLate(facts) }
  const patience = blockPatience(spec, vote?.votes.length ?? 0)
  if (tipAge >= patience) return tipOld(facts, patience)
  return before === undefined ? undefined : { reason: before, detail: goesOn(facts) }
}

/** Votes that the present step waits for; the step in which a proposal is waited for ends by its timer alone. */
function stepVotes({ step, votes }: VoteFacts): readonly ReceivedVotes[] | undefined {
  return step === 'propose' ? undefined : votes.filter((vote) => vote[step])
}

function lacksQuorum(vote: VoteFacts): boolean {
  const present = stepVotes(vote)
  return present !== undefined && present.length < quorum(vote.votes.length)
}

function noQuorum({ tip, peers }: ChainFacts, vote: VoteFacts): StallReport {
  const { votes, view, step } = vote
  const present = stepVotes(vote)?.length ?? 0
  const where = `${step} of view ${view} at height ${tip.height + 1}`
  const counted = `votes of ${present} of ${votes.length} validators have arrived (${where})`
  const missing = missingText(votes.flatMap((entry, index) => (entry[step as 'prevote'] ? [] : [{ ...entry, index }])))
  return {
    reason: 'no-quorum',
    detail: `${counted}, and a block needs ${quorum(votes.length)}; missing: ${missing}${aloneText(peers)}`,
  }
}

function aloneText(peers: number | undefined): string {
  return peers === 0 ? '; this node is connected to no other' : ''
}

function missingText(missing: readonly (ReceivedVotes & { readonly index: number })[]): string {
  const names = missing.slice(0, mostNamed).map(({ publicKey, own, index }) => {
    const self = own ? ', this node' : ''
    return `validator ${index + 1} (${toHex(publicKey).slice(0, keyDigits)}…${self})`
  })
  const more = missing.length - names.length
  return [...names, ...(more > 0 ? [`${more} more`] : [])].join(', ')
}

/** A quorum is there again, and the block that ends the stall is not. */
function goesOn({ tip, vote }: ChainFacts): string {
  return `no block has followed height ${tip.height} yet${heardText(vote)}`
}

function heardText(vote: VoteFacts | undefined): string {
  if (vote === undefined) return ''
  const { length } = vote.votes
  const heard = vote.votes.filter((entry) => entry.heard).length
  return `; votes of ${heard} of ${length} validators have arrived, and a block needs ${quorum(length)}`
}

function clockLate({ tip }: ChainFacts): string {
  return `blocks above height ${tip.height} are too far ahead of the clock of this node, say most of its peers: set it right`
}

function tipOld({ spec, tip, vote, peers }: ChainFacts, patience: number): StallReport {
  const seconds = Math.round(patience / 1000)
  const block = `block ${tip.height} of ${new Date(tip.time * 1000).toISOString().replace('.000', '')}`
  const late = `no block has followed ${block} for more than ${seconds} s`
  const pace = `${sparestSpacings} times the ${spec.retarget.spacing} s between blocks that this chain aims at`
  const mined = spec.producer === 'miners' ? `, ${pace}: do its miners work?` : ''
  return { reason: 'tip-old', detail: `${late}${mined}${heardText(vote)}${aloneText(peers)}` }
}
