import { LruMap } from '../../base/runtime/lru-map.js'
import { mapKey } from '../../base/primitives/bytes.js'
import { isWaiting } from '../../base/runtime/wait.js'

/** Milliseconds for which a disconnected, unbanned peer is refused. */
const apartTime = 60_000
/** @limit count: keys kept apart; the one added longest ago leaves first */
const mostApart = 256

/** Keys refused for a while instead of banned: configured nodes, and peers that recently delivered first. */
export class Apart {
  readonly #now: () => number
  readonly #until = new LruMap<number>(mostApart)

  /** `now`: milliseconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  part(publicKey: Uint8Array): void {
    const id = mapKey(publicKey)
    this.#until.set(id, this.#now() + apartTime)
  }

  /** Whether a key is refused now; a clock set back does not prolong it. */
  has(publicKey: Uint8Array): boolean {
    return isWaiting(this.#until.peek(mapKey(publicKey)) ?? 0, this.#now(), apartTime)
  }
}
