import type { ApiLimits } from '../api-limits.js'

/** @limit count: addresses whose requests are counted in a window; further ones wait for the next */
const mostAddresses = 10_000

/** Requests of each address in the present window. */
export class RequestRate {
  readonly #limits: ApiLimits
  readonly #counts = new Map<string, number>()
  #windowEnds = 0

  constructor(limits: ApiLimits) {
    this.#limits = limits
  }

  /** Counts one more request of a share of {@link shareOf}; returns whether it may be answered. `now` in milliseconds. */
  take(share: string, local: boolean, now: number): boolean {
    const { rateRequests, rateSparesLoopback, rateWindow } = this.#limits
    if (rateSparesLoopback && local) return true
    if (now >= this.#windowEnds) {
      this.#windowEnds = now + rateWindow
      this.#counts.clear()
    }
    const count = (this.#counts.get(share) ?? 0) + 1
    if (count === 1 && this.#counts.size >= mostAddresses) return false
    this.#counts.set(share, count)
    return count <= rateRequests
  }
}
