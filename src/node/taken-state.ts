import { UserError } from '../base/errors/rule-error.js'
import type { Spec } from '../base/primitives/spec.js'
import type { Clock } from '../base/runtime/env.js'
import type { CheckedState } from '../ledger/state/check-state.js'
import { oldestDays } from '../network/join/state-offers.js'

/** Units of the progress of a join. */
export const joinUnits = { joining: 'MiB' } as const

/** Throws a {@link UserError} for a chain that begins with no state of others. */
export function requireJoinable({ devnet }: Pick<Spec, 'devnet'>): void {
  if (!devnet) return
  throw new UserError('a devnet begins with no state of others: it goes back to any of its blocks', 2)
}

/** Says which state was taken, and what stands behind it. `from`: its file, or `peers`. */
export function takenText(
  { hasValidators }: Pick<Spec, 'hasValidators'>,
  from: string,
  { height, committing, work }: Pick<CheckedState, 'height' | 'committing' | 'work'>,
): string {
  const taken = `state of height ${height} taken from ${from} and checked against`
  const time = new Date(committing.time * 1000).toISOString()
  const block = `block ${committing.height} of ${time}, which commits to it`
  if (hasValidators) return `${taken} the validators' confirm of ${block}`
  return `${taken} ${block}; work of ${work} hashes alone stands behind that`
}

/** Warns of a state that is older than peers' may be; undefined for one that is not. A chain of work has no keys to sell. */
export function ageWarning(
  { hasValidators }: Pick<Spec, 'hasValidators'>,
  { committing: { height, time } }: Pick<CheckedState, 'committing'>,
  clock: Clock,
): string | undefined {
  const days = Math.floor((clock.now() / 1000 - time) / 86_400)
  if (!hasValidators || days < oldestDays) return undefined
  return `block ${height} is ${days} days old: validators who left since may have sold their keys, so know where the file comes from`
}
