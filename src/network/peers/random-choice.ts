import { asBuffer } from '../../base/primitives/bytes.js'
import type { Random } from '../../base/runtime/env.js'

/** A random integer from 0 to `count` - 1, nearly uniform for small counts; 0 if `count` < 2. */
export function randomBelow(random: Random, count: number): number {
  return count < 2 ? 0 : asBuffer(random.bytes(6)).readUIntBE(0, 6) % count
}

/** At most `count` of the items, drawn at random. */
export function drawn<T>(random: Random, items: readonly T[], count: number): T[] {
  const remaining = [...items]
  const taken: T[] = []
  while (taken.length < count && remaining.length > 0) {
    const at = randomBelow(random, remaining.length)
    taken.push(remaining[at] as T)
    remaining[at] = remaining[remaining.length - 1] as T
    remaining.pop()
  }
  return taken
}
