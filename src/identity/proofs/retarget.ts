import { bitsOf, easiestBits, powLimit, targetOf } from '../../base/primitives/compact.js'
import type { HeaderFields } from '../../base/primitives/header.js'

/** Rules of the time and bits of a block by its ancestors. */

/** Ancestors of the block being checked: `at(h)` is the one at height h, which must be below the block. */
export interface Ancestry {
  readonly parent: AncestorFields
  at(height: number): AncestorFields
}

/** Fields of an ancestor that the rules read. */
export type AncestorFields = Pick<HeaderFields, 'height' | 'time' | 'bits'>

/** How the difficulty of a chain changes. */
export interface RetargetRules {
  readonly powLimitBits: number
  /** Blocks between changes, and seconds wanted between blocks. */
  readonly retarget: { readonly interval: number; readonly spacing: number }
}

/** Blocks whose median time is below the time of the next block. */
export const medianSpan = 11

/** Median time of a block and up to ten before it, in Unix seconds: element ⌊n/2⌋ of the sorted times. */
export function medianTime(tip: AncestorFields, at: (height: number) => AncestorFields): number {
  const times = [tip.time]
  for (let height = tip.height - 1; height >= 0 && times.length < medianSpan; height--) times.push(at(height).time)
  times.sort((a, b) => a - b)
  return times[Math.floor(times.length / 2)] as number
}

/** The bits that a block on top of these ancestors must have (format 5.11, with the spec's interval and spacing). */
export function requiredBits({ powLimitBits, retarget }: RetargetRules, { parent, at }: Ancestry): number {
  if (parent.height === 0 || powLimitBits === easiestBits) return powLimitBits
  const { interval, spacing } = retarget
  if ((parent.height + 1) % interval !== 0) return parent.bits
  const wanted = interval * spacing
  const elapsed = parent.time - at(parent.height - interval + 1).time
  const clamped = Math.min(Math.max(elapsed, Math.floor(wanted / 4)), wanted * 4)
  const target = (targetOf(parent.bits) * BigInt(clamped)) / BigInt(wanted)
  return bitsOf(target > powLimit ? powLimit : target)
}
