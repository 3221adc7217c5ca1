import { RuleError } from '../../base/errors/rule-error.js'
import { leastFee, leastFeeText, poolFees, type Room } from '../../base/primitives/fees.js'
import type { Params } from '../../base/primitives/spec.js'

/** The least fee that this pool takes for room. */
export function poolPrice({ fees }: Pick<Params, 'fees'>, room: Room): bigint {
  return leastFee(poolFees(fees), room)
}

/** Refuses a fee that is too low for the room that it is to pay, where the rules of the chain ask less than this pool. */
export function requirePoolPrice(fee: bigint, { fees }: Pick<Params, 'fees'>, room: Room): void {
  if (fee >= poolPrice({ fees }, room)) return
  const asked = poolFees(fees)
  throw new RuleError('fee-too-low', `the fee is ${fee} sela, this node asks ${leastFeeText(asked, room)}`)
}
