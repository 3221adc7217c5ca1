/** Progress of the sync. */
export interface SyncProgress {
  /** `idle`: no better chain is known; `waiting`: there is one, but no peer can be asked for it now. */
  readonly stage: 'idle' | 'headers' | 'blocks' | 'waiting'
  /** Whether a peer has proved a chain that is not connected, or is sending headers of one that follow the own chain. */
  readonly catchingUp: boolean
  readonly height: number
  /** Target height: proved, or claimed by the peer whose headers are fetched, where they come or no other peer shows the tip here. */
  readonly target: number
  /** Recent blocks per second. */
  readonly rate: number
  readonly secondsLeft?: number
  /** Reason of the wait, if any. */
  readonly reason?: string
}

/** Knowledge of a node beyond its own tip. */
export interface KnownBeyond {
  /** The highest proved block that is not connected, and since when there are any; milliseconds of the clock. */
  readonly better?: { readonly height: number; readonly since: number }
  /** Height of a proved block with more work, which is too far ahead of the clock to be taken. */
  readonly aheadOfClock?: number
  /** Whether a peer that claims to have more is being asked for it. */
  readonly asking: boolean
  /** Whether that peer has shown headers which follow the own chain. */
  readonly arriving: boolean
  /**
   * Whether a peer is connected that serves blocks up to about the own tip, is not known to have more, and neither lacks blocks itself nor follows this node; by what it
   * said since the peers were asked anew.
   */
  readonly met: boolean
  /** Whether most peers have blocks that are too far ahead of the own clock. */
  readonly behindByClock: boolean
}

/** Window of the rate in samples, one per second. */
const rateSpan = 10

/** Blocks per second over the last seconds. */
export class Rate {
  #samples: { readonly time: number; readonly height: number }[] = []

  /** Adds a sample: time in milliseconds, height of the tip; called once a second. */
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
