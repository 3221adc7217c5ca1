import type { Clock, Timers } from '../base/runtime/env.js'

export interface BlockIntervalOptions {
  readonly timers: Timers
  readonly clock: Clock
  /** Milliseconds from the local commit of a block to view 0 of the next height, at least. */
  readonly minInterval: number
  /** Milliseconds from the commit until an empty block is made; absent: no empty blocks. */
  readonly emptyInterval?: number
  /** Whether there is a reason for a block: something to include, or a message of a peer for this height. */
  reason(): boolean
  /** Begins view 0. */
  begin(): void
}

/** Timer of the start of a height: after `minInterval` with a reason for a block, else after `emptyInterval`. */
export class BlockInterval {
  readonly #options: BlockIntervalOptions
  #cancels: (() => void)[] = []
  #minElapsed = false
  #begun = false
  /** By the clock; undefined without empty blocks. */
  #emptyAt: number | undefined

  /** Starts both intervals now: to be created when the tip moves. */
  constructor(options: BlockIntervalOptions) {
    this.#options = options
    const { timers, clock, minInterval, emptyInterval } = options
    this.#cancels.push(
      timers.after(minInterval, () => {
        this.#minElapsed = true
        this.look()
      }),
    )
    if (emptyInterval === undefined) return
    const idle = Math.max(minInterval, emptyInterval)
    this.#emptyAt = clock.now() + idle
    this.#cancels.push(timers.after(idle, () => this.#begin()))
  }

  /** Milliseconds until an empty block is begun; undefined once a block is begun, and without empty blocks. */
  get untilEmpty(): number | undefined {
    if (this.#begun || this.#emptyAt === undefined) return undefined
    return Math.max(0, this.#emptyAt - this.#options.clock.now())
  }

  get begun(): boolean {
    return this.#begun
  }

  /** Checks for a reason, and begins if `minInterval` is over. */
  look(): void {
    if (this.#minElapsed && this.#options.reason()) this.#begin()
  }

  close(): void {
    this.#begun = true
    this.#cancels.splice(0).forEach((cancel) => cancel())
  }

  #begin(): void {
    if (this.#begun) return
    this.close()
    this.#options.begin()
  }
}
