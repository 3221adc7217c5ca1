import type { Spec } from '../../base/primitives/spec.js'
import type { Standing } from '../../answers/resolver/standing.js'
import { tipPatience } from '../pace.js'
import type { StepPolicy } from '../in-step.js'

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
}

/**
 * Decides whether a gateway may say what is so now: by the age of its tip, as a light resolver does, which has no peers either, and by when a
 * node was at the shards, which it is each ten seconds while it lives.
 */
export function gatewayStanding(facts: GatewayFacts, { staleAfter, always }: StepPolicy): Standing {
  const { tip, now } = facts
  const age = Math.max(0, Math.floor(now / 1000) - tip.time)
  const place = { height: tip.height, age }
  const missing = lackOf(facts, age)
  if (missing === undefined) return { ...place, inStep: true }
  const answers = always ? 'all' : age * 1000 <= staleAfter ? 'found' : 'none'
  return { ...place, inStep: false, reason: 'old', missing, answers }
}

function lackOf({ spec, rows }: GatewayFacts, age: number): string | undefined {
  if (rows.fault !== undefined) return rows.fault
  if (rows.age * 1000 > shippingTime) return `no node has been at the shards for ${Math.floor(rows.age)} s`
  // A devnet makes blocks when it is asked.
  const isOld = !spec.devnet && age * 1000 > tipPatience(spec) + shippingTime
  return isOld ? 'no block has been shipped since' : undefined
}
