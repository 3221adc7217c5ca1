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
 * Decides whether a gateway is in step: it is not behind the nodes that it was given, its tip is recent, and a node has written to the
 * shards lately, as each does every ten seconds. A node that cannot be reached does not count: another one may ship the rows.
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

/** Returns a getter of the current standing. It keeps the last one while the facts are equal: each request reads it several times. */
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
