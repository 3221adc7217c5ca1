import type { Timers } from '../runtime/env.js'

export interface BlockIntervalOptions {
  readonly timers: Timers
  /** Milliseconds from the local commit of a block to view 0 of the next height, at least. */
  readonly minInterval: number
  /** Milliseconds from the commit until a block is made of nothing; absent: there is never a block without a reason. */
  readonly emptyInterval?: number
  /** Whether there is a reason for a block: something to include, or somebody has begun. */
  reason(): boolean
  /** View 0 begins. */
  begin(): void
}

/** When a height begins: not too soon after the one before, and not without a reason until it has been long. */
export class BlockInterval {
  readonly #options: BlockIntervalOptions
  #cancels: (() => void)[] = []
  #rested = false
  #begun = false

  /** Counts from now: the tip has just moved. */
  constructor(options: BlockIntervalOptions) {
    this.#options = options
    const { timers, minInterval, emptyInterval } = options
    this.#cancels.push(
      timers.after(minInterval, () => {
        this.#rested = true
        this.look()
      }),
    )
    if (emptyInterval === undefined) return
    this.#cancels.push(timers.after(Math.max(minInterval, emptyInterval), () => this.#begin()))
  }

  get begun(): boolean {
    return this.#begun
  }

  /** There may be a reason now. */
  look(): void {
    if (this.#rested && this.#options.reason()) this.#begin()
  }

  stop(): void {
    this.#begun = true
    this.#cancels.splice(0).forEach((cancel) => cancel())
  }

  #begin(): void {
    if (this.#begun) return
    this.stop()
    this.#options.begin()
  }
}
