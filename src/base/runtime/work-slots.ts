import { RuleError } from '../errors/rule-error.js'

/** Work that takes one of the {@link WorkSlots}. */
export interface WorkSlotOptions {
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined
  /** The share under which it waits, such as an address; absent: all wait in one. */
  readonly share?: string
}

/** Slots for work that takes memory or time; work without one waits in a bounded queue, in which the shares take turns. */
export class WorkSlots {
  /** By share, the share that is served next first. */
  readonly #waiting = new Map<string, Set<() => void>>()
  /** By share, the slots that it has. */
  readonly #held = new Map<string, number>()
  readonly #most: number
  readonly #what: string
  readonly #perShare: number
  #free: number
  #count = 0

  /** `most`: places in the queue; `what`: the work, for the refusal; `perShare`: slots that one share has at most. */
  constructor(slots: number, most: number, what: string, perShare = slots) {
    this.#free = slots
    this.#most = most
    this.#what = what
    this.#perShare = perShare
  }

  /** Resolves with the function that gives the slot back. `busy` when too many wait; the signal's reason once it aborts. */
  take({ signal, share = '' }: WorkSlotOptions = {}): Promise<() => void> {
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error)
    if (this.#free > 0 && this.#mayHold(share)) return Promise.resolve(this.#give(share))
    if (this.#count >= this.#most) {
      return Promise.reject(new RuleError('busy', `too many ${this.#what} wait; try again`))
    }
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#remove(share, admit)
        reject(signal?.reason as Error)
      }
      const admit = () => {
        signal?.removeEventListener('abort', leave)
        resolve(this.#give(share))
      }
      this.#add(share, admit)
      signal?.addEventListener('abort', leave, { once: true })
    })
  }

  /** Does a job in a slot. The job has to wait for no client: a slot is one that others need. */
  async run<T>(job: () => Promise<T>, options?: WorkSlotOptions): Promise<T> {
    const release = await this.take(options)
    try {
      return await job()
    } finally {
      release()
    }
  }

  #add(share: string, admit: () => void): void {
    const own = this.#waiting.get(share) ?? new Set()
    this.#waiting.set(share, own.add(admit))
    this.#count++
  }

  #remove(share: string, admit: () => void): void {
    const own = this.#waiting.get(share)
    if (own?.delete(admit) !== true) return
    this.#count--
    if (own.size === 0) this.#waiting.delete(share)
  }

  #mayHold(share: string): boolean {
    return (this.#held.get(share) ?? 0) < this.#perShare
  }

  /** Gives a free slot away; returns the function that gives it back. */
  #give(share: string): () => void {
    this.#free--
    this.#held.set(share, (this.#held.get(share) ?? 0) + 1)
    let taken = true
    return () => {
      if (!taken) return
      taken = false
      this.#free++
      const left = (this.#held.get(share) ?? 0) - 1
      if (left > 0) this.#held.set(share, left)
      else this.#held.delete(share)
      this.#next()?.()
    }
  }

  /** Takes the longest waiting of the share whose turn it is out of the queue; then that share is last. */
  #next(): (() => void) | undefined {
    for (const [share, own] of this.#waiting) {
      if (!this.#mayHold(share)) continue
      const [admit] = own
      this.#remove(share, admit as () => void)
      if (this.#waiting.delete(share)) this.#waiting.set(share, own)
      return admit
    }
    return undefined
  }
}
