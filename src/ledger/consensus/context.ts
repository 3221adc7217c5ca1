import { RuleError } from '../../base/errors/rule-error.js'
import { formatDate } from '../../identity/did/date.js'
import type { HeaderFields } from '../../base/primitives/header.js'
import type { Spec } from '../../base/primitives/spec.js'
import { type Ancestry, medianTime, requiredBits } from '../../identity/proofs/retarget.js'

/** Header rules that need ancestors alone; those that web pages check too are in the room of proofs. */
export { type Ancestry, medianTime, requiredBits }

/** @limit s: time of a block ahead of the clock, without validators */
export const twoHours = 2 * 60 * 60

/** Earliest valid time, in Unix seconds, of a block on top of these ancestors. */
export function earliestTime(spec: Spec, { parent, at }: Ancestry): number {
  return spec.hasValidators ? parent.time : Math.max(parent.time, medianTime(parent, at) + 1)
}

/** Throws unless height, time and bits of the header follow from its ancestors. */
export function checkHeaderContext(spec: Spec, header: HeaderFields, ancestry: Ancestry): void {
  const height = ancestry.parent.height + 1
  if (header.height !== height) throw new RuleError('block-height', `height ${header.height} on top of ${height - 1}`)
  const earliest = earliestTime(spec, ancestry)
  if (header.time < earliest) {
    throw new RuleError('block-time-early', `time ${formatDate(header.time)}, not before ${formatDate(earliest)}`)
  }
  const bits = requiredBits(spec, ancestry)
  if (header.bits !== bits) throw new RuleError('block-bits', `bits ${header.bits}, required ${bits}`)
}

/**
 * On a chain without validators, refuses a header more than two hours ahead of the clock. It may become valid later, so it never
 * makes a block invalid; confirmed blocks are not compared with a clock.
 */
export function checkClock(spec: Spec, header: HeaderFields, nowMilliseconds: number): void {
  if (!isOfFuture(spec, header, nowMilliseconds)) return
  const latest = formatDate(latestTime(nowMilliseconds))
  throw new RuleError('block-time-future', `time ${formatDate(header.time)}, at most ${latest} now`)
}

/** Whether a header is too far ahead of the clock to be taken now. */
export function isOfFuture(
  spec: Pick<Spec, 'hasValidators'>,
  header: Pick<HeaderFields, 'time'>,
  nowMilliseconds: number,
): boolean {
  return !spec.hasValidators && header.time > latestTime(nowMilliseconds)
}

function latestTime(nowMilliseconds: number): number {
  return Math.floor(nowMilliseconds / 1000) + twoHours
}
