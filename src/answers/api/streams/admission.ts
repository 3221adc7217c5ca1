import { RuleError } from '../../../base/errors/rule-error.js'
import { nextTurn } from '../../../base/runtime/cooperative.js'
import type { ApiLimits } from '../api-limits.js'

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

/** A production whose readers may let it wait. */
export interface ReadHolder extends Holder {
  /** Milliseconds since its readers last took anything; 0 while it is produced. */
  readonly idle: number
}

interface Waiter {
  readonly bytes: number
  /** Whether it continues an answer that has begun; such a waiter is never refused. */
  readonly resuming: boolean
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
  /** Bytes of holders that gave their room to others until {@link retake}. */
  readonly #parked = new Map<Holder, number>()
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
    if (this.#newcomers.length >= this.#limits.answersWaiting && !this.#displace(holder)) {
      return Promise.reject(tooMany())
    }
    return this.#wait({ bytes: counted, holder, resuming: false }, signal)
  }

  held(holder: Holder): number {
    return this.#holders.get(holder) ?? 0
  }

  /** Gives the room of a holder to others, though it keeps its bytes: the caller counts them elsewhere. */
  park(holder: Holder): void {
    const bytes = this.held(holder)
    if (bytes === 0) return
    this.#holders.delete(holder)
    this.#parked.set(holder, bytes)
    this.#free += bytes
    this.#serve()
  }

  /** Waits for the room of a parked holder, however many wait and however long; rejects with the signal's reason when it aborts. */
  async retake(holder: Holder, signal: AbortSignal): Promise<void> {
    const bytes = this.#parked.get(holder)
    if (bytes === undefined) return
    signal.throwIfAborted()
    if (this.#waiting.length === 0 && bytes <= this.#free) this.#grant(bytes, holder)
    else await this.#wait({ bytes, holder, resuming: true }, signal)
  }

  get #newcomers(): readonly Waiter[] {
    return this.#waiting.filter(({ resuming }) => !resuming)
  }

  #wait(asked: Pick<Waiter, 'bytes' | 'holder' | 'resuming'>, signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        const at = this.#waiting.indexOf(waiter)
        if (at >= 0) this.#waiting.splice(at, 1)
        clearTimeout(patience)
        signal.removeEventListener('abort', aborted)
      }
      const waiter: Waiter = {
        ...asked,
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
      const late = () => waiter.refuse(tooMany())
      const patience = asked.resuming ? undefined : setTimeout(late, this.#limits.answersPatience)
      signal.addEventListener('abort', aborted, { once: true })
      this.#waiting.push(waiter)
      this.#watch()
    })
  }

  #grant(bytes: number, holder: Holder): () => void {
    this.#free -= bytes
    // A parked holder asks for no more than what it had.
    this.#parked.delete(holder)
    this.#holders.set(holder, this.held(holder) + bytes)
    let taken = bytes
    return () => {
      if (taken === 0) return
      const isParked = this.#parked.has(holder)
      lessen(isParked ? this.#parked : this.#holders, holder, taken)
      if (!isParked) this.#free += taken
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
    for (const { holder } of this.#newcomers) counts.set(holder.share, (counts.get(holder.share) ?? 0) + 1)
    const [largest, most] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a))
    if (most <= (counts.get(share) ?? 0) + 1) return false
    this.#newcomers.findLast(({ holder }) => holder.share === largest)?.refuse(tooMany())
    return true
  }

  /** While answers wait, evicts as many holders with slow readers. */
  #watch(): void {
    this.#contention ??= setInterval(() => {
      if (this.#waiting.length === 0) {
        clearInterval(this.#contention)
        this.#contention = undefined
        return
      }
      const slow = [...this.#holders.keys()].filter((holder) => holder.slow)
      for (const holder of slow.slice(0, this.#waiting.length)) holder.evict()
    }, contentionInterval).unref()
  }
}

function lessen(counts: Map<Holder, number>, holder: Holder, bytes: number): void {
  const left = (counts.get(holder) ?? 0) - bytes
  if (left > 0) counts.set(holder, left)
  else counts.delete(holder)
}

function tooMany(): RuleError {
  return new RuleError('busy', 'too many large answers are being made; try again')
}

/** Bounds the memory of all answers that are no point reads, and the time that they take from other answers. */
export class AnswerAdmission {
  readonly limits: ApiLimits
  /** Memory of every answer while it is made and read. */
  readonly #places: SharedBytes
  /** Additional memory for large transactions, and for documents found. */
  readonly #large: SharedBytes
  /** Memory of searches, which may take long, instead of {@link #places}. */
  readonly #searches: SharedBytes
  /** Bytes of productions that wait for their readers and hold no room in the others. */
  readonly #unread = new Map<ReadHolder, number>()
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
   * Gives the room of a production that waits for its readers to others, as long as what is unread fits into its own bound. There
   * the production that was read least makes way, of the share that has most. Without room it keeps its own, until it is evicted for
   * being slow.
   */
  park(holder: ReadHolder): void {
    const bytes = this.#pools.reduce((sum, pool) => sum + pool.held(holder), 0)
    if (bytes === 0 || !this.#makeRoom(holder, bytes)) return
    this.#unread.set(holder, bytes)
    for (const pool of this.#pools) pool.park(holder)
  }

  /** Waits for the room of a parked production that continues; rejects with the signal's reason when it aborts. */
  async resume(holder: ReadHolder, signal: AbortSignal): Promise<void> {
    if (!this.#unread.has(holder)) return
    for (const pool of this.#pools) await pool.retake(holder, signal)
    this.#unread.delete(holder)
  }

  /** Counts a production no longer, whose readers have it or are gone. */
  leave(holder: ReadHolder): void {
    this.#unread.delete(holder)
  }

  /** In the order in which productions take room: one with room in the first never waits for it in another. */
  get #pools(): readonly SharedBytes[] {
    return [this.#searches, this.#places, this.#large]
  }

  #makeRoom(holder: ReadHolder, bytes: number): boolean {
    const { unreadAnswers } = this.limits
    const others = () => [...this.#unread].filter(([one]) => one !== holder)
    const sum = () => others().reduce((total, [, held]) => total + held, 0)
    while (this.#unread.size > 0 && sum() + bytes > unreadAnswers) {
      const going = this.#leastMissed(holder.share, bytes)
      if (going === undefined || going === holder) return false
      this.#unread.delete(going)
      going.evict()
    }
    return true
  }

  /** The production to end so that another of `share` may be parked; undefined where none may be. */
  #leastMissed(share: string, bytes: number): ReadHolder | undefined {
    const held = new Map<string, number>()
    for (const [one, some] of this.#unread) held.set(one.share, (held.get(one.share) ?? 0) + some)
    const most = Math.max(...held.values())
    const isGreedy = (one: ReadHolder) =>
      one.share !== share && held.get(one.share) === most && most > (held.get(share) ?? 0) + bytes
    const may = [...this.#unread.keys()].filter(
      (one) => one.slow || (isGreedy(one) && one.idle >= this.limits.answerLag),
    )
    return may.reduce<ReadHolder | undefined>(
      (worst, one) => (worst && worst.idle >= one.idle ? worst : one),
      undefined,
    )
  }

  /**
   * Starts a production and resolves when it is complete; rejects with the signal's reason if it aborts before the start. First steps may
   * read megabytes: consecutive ones share a time slice, then the event loop gets a turn. `produce` must not throw before its first
   * promise.
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
