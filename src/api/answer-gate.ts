import { RuleError } from '../errors/rule-error.js'
import { nextTurn } from '../runtime/cooperative.js'
import type { ApiLimits } from './api-limits.js'

/** Milliseconds between checks for slow holders while others wait. */
const contentionInterval = 500

/** Milliseconds of the time slice shared by the first steps of productions. */
const beginningSlice = 4

/** A production that holds bytes of the gate. */
export interface Holder {
  /** Share under which the client counts. */
  readonly share: string
  /** Whether its readers take less than the minimum rate. */
  readonly slow: boolean
  /** Aborts it to make room. */
  evict(): void
}

interface Waiter {
  readonly bytes: number
  readonly holder: Holder
  admit(release: () => void): void
  refuse(error: unknown): void
}

/** A byte budget: the share that holds least is served first; a bounded number of holders wait. */
export class SharedBytes {
  readonly #limits: ApiLimits
  readonly #capacity: number
  #free: number
  readonly #holders = new Map<Holder, number>()
  readonly #waiting: Waiter[] = []
  #contention: NodeJS.Timeout | undefined

  constructor(capacity: number, limits: ApiLimits) {
    this.#limits = limits
    this.#capacity = capacity
    this.#free = capacity
  }

  /**
   * Resolves with the function that releases the bytes; more than the capacity counts as the capacity. Rejects with `busy` when
   * too many wait or the wait is too long, and with the signal's reason when it aborts.
   */
  take(bytes: number, holder: Holder, signal: AbortSignal): Promise<() => void> {
    const counted = Math.min(bytes, this.#capacity)
    if (signal.aborted) return Promise.reject(signal.reason as Error)
    if (this.#waiting.length === 0 && counted <= this.#free) return Promise.resolve(this.#grant(counted, holder))
    if (this.#waiting.length >= this.#limits.answersWaiting && !this.#displace(holder)) {
      return Promise.reject(tooMany())
    }
    return this.#wait(counted, holder, signal)
  }

  #wait(bytes: number, holder: Holder, signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        const at = this.#waiting.indexOf(waiter)
        if (at >= 0) this.#waiting.splice(at, 1)
        clearTimeout(patience)
        signal.removeEventListener('abort', aborted)
      }
      const waiter: Waiter = {
        bytes,
        holder,
        admit: (release) => {
          leave()
          resolve(release)
        },
        refuse: (error) => {
          leave()
          reject(error as Error)
          this.#serve()
        },
      }
      const aborted = () => waiter.refuse(signal.reason)
      const patience = setTimeout(() => waiter.refuse(tooMany()), this.#limits.answersPatience)
      signal.addEventListener('abort', aborted, { once: true })
      this.#waiting.push(waiter)
      this.#watch()
    })
  }

  #grant(bytes: number, holder: Holder): () => void {
    this.#free -= bytes
    this.#holders.set(holder, (this.#holders.get(holder) ?? 0) + bytes)
    let taken = bytes
    return () => {
      if (taken === 0) return
      const left = (this.#holders.get(holder) ?? 0) - taken
      if (left > 0) this.#holders.set(holder, left)
      else this.#holders.delete(holder)
      this.#free += taken
      taken = 0
      this.#serve()
    }
  }

  #serve(): void {
    for (;;) {
      const next = this.#next()
      if (next === undefined || next.bytes > this.#free) return
      next.admit(this.#grant(next.bytes, next.holder))
    }
  }

  /** The longest waiter of the share that holds least. */
  #next(): Waiter | undefined {
    const held = new Map<string, number>()
    for (const [{ share }, bytes] of this.#holders) held.set(share, (held.get(share) ?? 0) + bytes)
    const heldBy = ({ holder }: Waiter) => held.get(holder.share) ?? 0
    return this.#waiting.reduce<Waiter | undefined>(
      (best, waiter) => (best === undefined || heldBy(waiter) < heldBy(best) ? waiter : best),
      undefined,
    )
  }

  /** Full queue → the share with most waiters loses its last one, unless that is the newcomer's own share. */
  #displace({ share }: Holder): boolean {
    const counts = new Map<string, number>()
    for (const { holder } of this.#waiting) counts.set(holder.share, (counts.get(holder.share) ?? 0) + 1)
    const [largest, most] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a))
    if (most <= (counts.get(share) ?? 0) + 1) return false
    this.#waiting.findLast(({ holder }) => holder.share === largest)?.refuse(tooMany())
    return true
  }

  /** While answers wait, evicts holders with slow readers, one at a time. */
  #watch(): void {
    this.#contention ??= setInterval(() => {
      if (this.#waiting.length === 0) {
        clearInterval(this.#contention)
        this.#contention = undefined
        return
      }
      for (const holder of this.#holders.keys()) {
        if (!holder.slow) continue
        holder.evict()
        return
      }
    }, contentionInterval).unref()
  }
}

function tooMany(): RuleError {
  return new RuleError('busy', 'too many large answers are being made; try again')
}

/** Bounds the memory of all answers that are no point reads, and the time that they take from other answers. */
export class AnswerGate {
  readonly limits: ApiLimits
  /** Memory of every answer while it is made and read. */
  readonly #places: SharedBytes
  /** Additional memory for large transactions, and for documents found. */
  readonly #large: SharedBytes
  /** Memory of searches, which may take long, instead of {@link #places}. */
  readonly #searches: SharedBytes
  #turn: Promise<void> = Promise.resolve()
  #beginning: Promise<void> = Promise.resolve()
  /** Start of the shared slice; performance.now(). */
  #began = -Infinity

  constructor(limits: ApiLimits) {
    this.limits = limits
    this.#places = new SharedBytes(limits.answers, limits)
    this.#large = new SharedBytes(limits.largeTransactions, limits)
    this.#searches = new SharedBytes(limits.searches, limits)
  }

  /** Waits for the memory of one answer; `search`: for that many bytes more, among all searches. */
  enter(holder: Holder, signal: AbortSignal, search?: number): Promise<() => void> {
    const place = this.limits.answerPlace
    return search === undefined
      ? this.#places.take(place, holder, signal)
      : this.#searches.take(place + search, holder, signal)
  }

  reserve(bytes: number, holder: Holder, signal: AbortSignal): Promise<() => void> {
    return this.#large.take(bytes, holder, signal)
  }

  /**
   * Starts a production and resolves when it is complete; rejects with the signal's reason if it aborts before the start. First
   * steps may read megabytes: consecutive ones share a time slice, then the event loop goes on. `produce` must not throw before
   * its first promise.
   */
  async begin(produce: () => Promise<void>, signal: AbortSignal): Promise<void> {
    let produced: Promise<void> | undefined
    this.#beginning = this.#beginning.then(async () => {
      if (performance.now() - this.#began >= beginningSlice) {
        await nextTurn()
        this.#began = performance.now()
      }
      if (!signal.aborted) produced = produce()
    })
    await this.#beginning
    await (produced ?? Promise.reject(signal.reason as Error))
  }

  /** Resolves when the caller may work for a time slice: one for all productions in each turn of the event loop. */
  turn(): Promise<void> {
    return (this.#turn = this.#turn.then(() => nextTurn()))
  }
}
