import { RuleError } from '../errors/rule-error.js'
import { bitsOf, easiestBits, powLimit, targetOf } from '../primitives/compact.js'
import type { HeaderFields } from '../primitives/header.js'
import type { Spec } from '../primitives/spec.js'

/** Header rules that need ancestors alone. */

/** Ancestors of the block being checked: `at(h)` is the one at height h, which must be below the block. */
export interface Ancestry {
  readonly parent: HeaderFields
  at(height: number): HeaderFields
}

/** Blocks whose median time is below the time of the next block. */
const medianSpan = 11
/** @limit s: time of a block ahead of the clock, without validators */
const twoHours = 2 * 60 * 60

/** Median time of a block and up to ten before it, in Unix seconds: element ⌊n/2⌋ of the sorted times. */
export function medianTime(tip: HeaderFields, at: (height: number) => HeaderFields): number {
  const times = [tip.time]
  for (let height = tip.height - 1; height >= 0 && times.length < medianSpan; height--) times.push(at(height).time)
  times.sort((a, b) => a - b)
  return times[Math.floor(times.length / 2)] as number
}

/** The bits that a block on top of these ancestors must have (format 5.11, with the spec's interval and spacing). */
export function requiredBits(spec: Spec, { parent, at }: Ancestry): number {
  if (parent.height === 0 || spec.powLimitBits === easiestBits) return spec.powLimitBits
  const { interval, spacing } = spec.retarget
  if ((parent.height + 1) % interval !== 0) return parent.bits
  const wanted = interval * spacing
  const elapsed = parent.time - at(parent.height - interval + 1).time
  const clamped = Math.min(Math.max(elapsed, Math.floor(wanted / 4)), wanted * 4)
  const target = (targetOf(parent.bits) * BigInt(clamped)) / BigInt(wanted)
  return bitsOf(target > powLimit ? powLimit : target)
}

/** Earliest valid time, in Unix seconds, of a block on top of these ancestors. */
export function earliestTime(spec: Spec, { parent, at }: Ancestry): number {
  return spec.hasValidators ? parent.time : Math.max(parent.time, medianTime(parent, at) + 1)
}

/** Throws unless height, time and bits of the header follow from its ancestors. */
export function checkHeaderContext(spec: Spec, header: HeaderFields, ancestry: Ancestry): void {
  const height = ancestry.parent.height + 1
  if (header.height !== height) throw new RuleError('block-height', `height ${header.height} on top of ${height - 1}`)
  const earliest = earliestTime(spec, ancestry)
  if (header.time < earliest) throw new RuleError('block-time-early', `time ${header.time}, not before ${earliest}`)
  const bits = requiredBits(spec, ancestry)
  if (header.bits !== bits) throw new RuleError('block-bits', `bits ${header.bits}, required ${bits}`)
}

/**
 * On a chain without validators, refuses a header more than two hours ahead of the clock. It may become valid later, so it never
 * makes a block invalid; confirmed blocks are not compared with a clock.
 */
export function checkClock(spec: Spec, header: HeaderFields, nowMilliseconds: number): void {
  const latest = Math.floor(nowMilliseconds / 1000) + twoHours
  if (!spec.hasValidators && header.time > latest) {
    throw new RuleError('block-time-future', `time ${header.time}, at most ${latest} now`)
  }
}
