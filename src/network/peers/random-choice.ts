import { asBuffer } from '../../primitives/bytes.js'
import type { Random } from '../../runtime/env.js'

/** A whole number from 0 to `count` - 1, close enough to even for choosing among few; 0 where there is no choice. */
export function randomBelow(random: Random, count: number): number {
  return count < 2 ? 0 : asBuffer(random.bytes(6)).readUIntBE(0, 6) % count
}

/** At most `count` of the items, drawn at random. */
export function drawn<T>(random: Random, items: readonly T[], count: number): T[] {
  const rest = [...items]
  const taken: T[] = []
  while (taken.length < count && rest.length > 0) {
    const at = randomBelow(random, rest.length)
    taken.push(rest[at] as T)
    rest[at] = rest[rest.length - 1] as T
    rest.pop()
  }
  return taken
}
