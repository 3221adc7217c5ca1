import type { ShardState } from '../engine/row-engine.js'

/** Tells when shards have been left by the node that ships to them, which is there at least every ten seconds. */
export class StandBy {
  readonly #after: number
  #seen = ''
  #since = 0

  /** `after`: milliseconds without a sign of that node. */
  constructor(after: number) {
    this.#after = after
  }

  /** Looks at the shards. They count as left once they have stayed as they are at every look for long enough. */
  areLeft(states: readonly (ShardState | undefined)[]): boolean {
    const seen = JSON.stringify(states.map((state) => state && [state.stream, state.epoch, state.written]))
    const now = performance.now()
    if (seen !== this.#seen) [this.#seen, this.#since] = [seen, now]
    return now - this.#since >= this.#after
  }

  /** Begins again: where shards did not answer, the node that ships to them could not get there either. */
  forget(): void {
    this.#seen = ''
  }
}
