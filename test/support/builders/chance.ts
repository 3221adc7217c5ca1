import type { Random } from '../../../src/base/runtime/env.js'
import { SeededRandom } from './seeded-random.js'

/** Draws of a random test, all from one seed. */
export class Chance extends SeededRandom implements Random {
  /** A source for one purpose: its draws do not depend on how often others draw. */
  fork(purpose: string): Chance {
    let mixed = this.seed ^ 0x811c9dc5
    for (let i = 0; i < purpose.length; i++) mixed = Math.imul(mixed ^ purpose.charCodeAt(i), 0x01000193)
    return new Chance(new SeededRandom(mixed).below(2 ** 32))
  }

  /** True once in `1 / probability` draws. */
  happens(probability: number): boolean {
    return this.fraction() < probability
  }

  /** From 0 up to and without 1. */
  fraction(): number {
    return this.below(2 ** 32) / 2 ** 32
  }

  /** An integer from `low` up to and with `high`. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1)
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T
  }

  shuffled<T>(items: readonly T[]): T[] {
    const mixed = [...items]
    for (let i = mixed.length - 1; i > 0; i--) {
      const j = this.below(i + 1)
      const moved = mixed[i] as T
      mixed[i] = mixed[j] as T
      mixed[j] = moved
    }
    return mixed
  }
}
