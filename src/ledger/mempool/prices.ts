import { RuleError } from '../../base/errors/rule-error.js'
import { leastFee, leastFeeText, poolFees, type Room } from '../../base/primitives/fees.js'
import type { Params } from '../../base/primitives/spec.js'

/** Refuses a fee that is too low for the room that it is to pay, where the rules of the chain ask less than this pool. */
export function requirePoolPrice(fee: bigint, { fees }: Params, room: Room): void {
  const asked = poolFees(fees)
  if (fee >= leastFee(asked, room)) return
  throw new RuleError('fee-too-low', `the fee is ${fee} sela, this node asks ${leastFeeText(asked, room)}`)
}
