import type { Spec } from '../../base/primitives/spec.js'
import type { Standing } from '../../answers/resolver/standing.js'
import { tipPatience } from '../pace.js'
import type { StepPolicy } from '../in-step.js'

/** @tuning count: blocks by which a node may be ahead of a gateway that is in step: those on their way to the shards */
const blocksAhead = 3

/** Beside the pace of the chain: for a node to ship a block, and an engine to take it. */
const shippingTime = 60_000

export interface GatewayFacts {
  readonly spec: Pick<Spec, 'devnet' | 'timing' | 'maxViewTimeout' | 'producer' | 'retarget' | 'hasValidators'>
  /** The tip of the rows, its time in Unix seconds. */
  readonly tip: { readonly height: number; readonly time: number }
  /** Unix milliseconds. */
  readonly now: number
  /** The rows: seconds since a node was at all shards, and what is wrong with these now. */
  readonly rows: { readonly age: number; readonly fault: string | undefined }
  /** The greatest height of the nodes that the gateway was given; undefined: none answers. */
  readonly best: number | undefined
}

/**
 * Decides whether a gateway may say what is so now: by the blocks that its nodes have, where it was given some; by the age of its tip, as a
 * light resolver does, which has no peers either; and by when a node was at the shards, which it is each ten seconds while it lives. A node
 * that does not answer is no reason against it: the rows may be of another one.
 */
export function gatewayStanding(facts: GatewayFacts, { staleAfter, always }: StepPolicy): Standing {
  const { tip, now } = facts
  const age = Math.max(0, Math.floor(now / 1000) - tip.time)
  const { height } = tip
  if (facts.best !== undefined && isBehind(height, facts.best)) {
    const missing = `a node is at height ${facts.best}, and its blocks have not come to the shards`
    return { height, age, inStep: false, reason: 'behind', missing, answers: always ? 'all' : 'none' }
  }
  const missing = lackOf(facts, age)
  // Written out: every request asks several times, and copies of objects were a tenth of its time.
  if (missing === undefined) return { height, age, inStep: true }
  const answers = always ? 'all' : age * 1000 <= staleAfter ? 'found' : 'none'
  return { height, age, inStep: false, reason: 'old', missing, answers }
}

/** {@link gatewayStanding} of the facts at the time of a call. Every request asks several times: facts as they were give the standing as it was. */
export function standingOf(policy: StepPolicy, factsNow: () => GatewayFacts): () => Standing {
  let known: { readonly facts: GatewayFacts; readonly standing: Standing } | undefined
  return () => {
    const facts = factsNow()
    if (known === undefined || !sameFacts(known.facts, facts))
      known = { facts, standing: gatewayStanding(facts, policy) }
    return known.standing
  }
}

/** Whether facts give the same standing, which knows no less than seconds. */
function sameFacts(a: GatewayFacts, b: GatewayFacts): boolean {
  const seconds = (milliseconds: number) => Math.floor(milliseconds / 1000)
  return (
    a.tip === b.tip &&
    a.best === b.best &&
    seconds(a.now) === seconds(b.now) &&
    a.rows.fault === b.rows.fault &&
    // Whole seconds are shown; whether it is too much is decided exactly.
    Math.floor(a.rows.age) === Math.floor(b.rows.age) &&
    a.rows.age * 1000 > shippingTime === b.rows.age * 1000 > shippingTime
  )
}

/** Whether a gateway at a height lacks more than the blocks on their way to the shards. */
export function isBehind(height: number, best: number): boolean {
  return best > height + blocksAhead
}

function lackOf({ spec, rows }: GatewayFacts, age: number): string | undefined {
  if (rows.fault !== undefined) return rows.fault
  if (rows.age * 1000 > shippingTime) return `no node has been at the shards for ${Math.floor(rows.age)} s`
  // A devnet makes blocks when it is asked.
  const isOld = !spec.devnet && age * 1000 > tipPatience(spec) + shippingTime
  return isOld ? 'no block has been shipped since' : undefined
}
