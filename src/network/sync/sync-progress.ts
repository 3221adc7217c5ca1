/** How far the sync is. */
export interface SyncProgress {
  /** `idle`: nothing better is known; `waiting`: there is, but nobody can be asked for it at the moment. */
  readonly stage: 'idle' | 'headers' | 'blocks' | 'waiting'
  /** Whether a peer proved a chain that is not connected, or is proving it: its headers come, and follow the own ones. */
  readonly catchingUp: boolean
  readonly height: number
  /** The height to reach: what is proved, or what the peer whose headers are fetched says. */
  readonly target: number
  /** Blocks a second, lately. */
  readonly rate: number
  readonly secondsLeft?: number
  /** What it waits for, where it waits. */
  readonly reason?: string
}

/** Seconds that the rate is the mean of. */
const rateSpan = 10

/** Blocks a second over the last seconds. */
export class Rate {
  #samples: { readonly time: number; readonly height: number }[] = []

  /** Where the chain is at a time in milliseconds; once a second. */
  add(time: number, height: number): void {
    this.#samples = [...this.#samples.slice(-rateSpan), { time, height }]
  }

  clear(): void {
    this.#samples = []
  }

  get perSecond(): number {
    const first = this.#samples[0]
    const last = this.#samples.at(-1)
    if (first === undefined || last === undefined || last.time <= first.time) return 0
    return (1000 * Math.max(0, last.height - first.height)) / (last.time - first.time)
  }
}
