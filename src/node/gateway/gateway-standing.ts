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
}

/** Decides whether a gateway may say what is so now, by the age of its rows alone: it has no peers, as a light resolver has none. */
export function gatewayStanding({ spec, tip, now }: GatewayFacts, { staleAfter, always }: StepPolicy): Standing {
  const age = Math.max(0, Math.floor(now / 1000) - tip.time)
  const place = { height: tip.height, age }
  // A devnet makes blocks when it is asked.
  if (spec.devnet || age * 1000 <= tipPatience(spec) + shippingTime) return { ...place, inStep: true }
  const answers = always ? 'all' : age * 1000 <= staleAfter ? 'found' : 'none'
  return { ...place, inStep: false, reason: 'old', missing: 'no block has been shipped since', answers }
}
