import { LruMap } from '../../base/runtime/lru-map.js'
import { mapKey } from '../../base/primitives/bytes.js'

/** Kinds of data that a peer can be the first to deliver. */
export const deliveries = ['block', 'vote', 'transaction'] as const
export type Delivery = (typeof deliveries)[number]

/** Milliseconds for which a first delivery of a valid vote or block protects a key from a ban by score. */
const meritTime = 60 * 60 * 1000
/** @limit count: keys whose first deliveries are kept; the one that delivered longest ago leaves first */
const mostMerits = 1024

type Latest = Readonly<Partial<Record<Delivery, number>>>

/** Keys that were the first to deliver valid data, connected or not. */
export class Merits {
  readonly #now: () => number
  readonly #latest = new LruMap<Latest>(mostMerits)

  /** `now`: milliseconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  note(publicKey: Uint8Array, delivery: Delivery): void {
    const id = mapKey(publicKey)
    const before = this.#latest.peek(id)
    this.#latest.set(id, { ...before, [delivery]: this.#now() })
  }

  /** Time of the last first delivery of a key, in milliseconds; -Infinity for never. */
  latest(publicKey: Uint8Array, delivery: Delivery): number {
    return this.#latest.peek(mapKey(publicKey))?.[delivery] ?? -Infinity
  }

  /** Whether a key recently was the first to deliver a valid vote or block. */
  lately(publicKey: Uint8Array): boolean {
    const from = this.#now() - meritTime
    return this.latest(publicKey, 'block') > from || this.latest(publicKey, 'vote') > from
  }
}
