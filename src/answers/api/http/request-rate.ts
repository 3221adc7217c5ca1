import { LruMap } from '../../../base/runtime/lru-map.js'
import type { ApiLimits } from '../api-limits.js'

/** @tuning count: addresses whose requests are counted in a window; for a further one the longest silent is forgotten */
const mostAddresses = 10_000

/** Rest of a window for an address. */
export interface RateState {
  readonly exceeded: boolean
  /** Requests that the address may still send. */
  readonly left: number
  /** Until the next window. */
  readonly seconds: number
}

/** Requests of each address in the present window. */
export class RequestRate {
  readonly #limits: Pick<ApiLimits, 'rateRequests' | 'rateWindow'>
  readonly #counts = new LruMap<number>(mostAddresses)
  #windowEnds = 0

  constructor(limits: Pick<ApiLimits, 'rateRequests' | 'rateWindow'>) {
    this.#limits = limits
  }

  /** Counts one more request of a share of {@link shareOf}; `now` in milliseconds. */
  take(share: string, now: number): RateState {
    const { rateRequests, rateWindow } = this.#limits
    if (now >= this.#windowEnds) {
      this.#windowEnds = now + rateWindow
      this.#counts.clear()
    }
    const seconds = Math.ceil((this.#windowEnds - now) / 1000)
    const count = (this.#counts.peek(share) ?? 0) + 1
    // The address that is silent for longest makes room: refusing further ones would let those of one network shut out all others.
    this.#counts.set(share, count)
    return { exceeded: count > rateRequests, left: Math.max(0, rateRequests - count), seconds }
  }
}
