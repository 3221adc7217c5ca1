import { RuleError } from '../../base/errors/rule-error.js'

/** Data that a search reads: the index alone, or documents as well. */
export type Lane = 'index' | 'documents'

/** Searches of a lane in progress at once. Two that read documents would only alternate. */
const atOnce: Readonly<Record<Lane, number>> = {
  /** @tuning count: searches at once that the index answers alone */
  index: 8,
  /** @tuning count: searches at once that read the documents they examine */
  documents: 1,
}

interface Waiting {
  readonly lane: Lane
  readonly begin: () => void
  readonly end: (error: Error) => void
}

/** Lets searches begin in the order in which they came, each in its lane. */
export class SearchQueue {
  readonly #limit: number
  readonly #running: Record<Lane, number> = { index: 0, documents: 0 }
  readonly #waiting = new Set<Waiting>()
  #closed = false
  #idle: (() => void) | undefined

  constructor(limit: number) {
    this.#limit = limit
  }

  /**
   * Resolves when a search may begin, with the function that it calls at its end. `busy` at once when too many wait, or the node
   * stops; the signal's reason when it aborts.
   */
  enter(lane: Lane, signal?: AbortSignal): Promise<() => void> {
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error)
    if (this.#closed) return Promise.reject(stopping())
    if (this.#isFree(lane)) return Promise.resolve(this.#begin(lane))
    if (this.#waiting.size >= this.#limit) {
      return Promise.reject(new RuleError('busy', `${this.#limit} searches are waiting already; try again`))
    }
    return this.#wait(lane, signal)
  }

  /** Refuses those that wait; resolves when those in progress have ended. */
  async close(): Promise<void> {
    this.#closed = true
    for (const waiting of [...this.#waiting]) waiting.end(stopping())
    if (this.#running.index + this.#running.documents === 0) return
    await new Promise<void>((resolve) => (this.#idle = resolve))
  }

  #wait(lane: Lane, signal: AbortSignal | undefined): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.delete(waiting)
        signal?.removeEventListener('abort', aborted)
      }
      const waiting: Waiting = {
        lane,
        begin: () => {
          leave()
          resolve(this.#begin(lane))
        },
        end: (error) => {
          leave()
          reject(error)
        },
      }
      const aborted = () => waiting.end(signal?.reason as Error)
      this.#waiting.add(waiting)
      signal?.addEventListener('abort', aborted, { once: true })
    })
  }

  #isFree(lane: Lane): boolean {
    return this.#running[lane] < atOnce[lane]
  }

  #begin(lane: Lane): () => void {
    this.#running[lane]++
    return () => {
      this.#running[lane]--
      for (const waiting of this.#waiting) {
        if (!this.#isFree(lane)) break
        if (waiting.lane === lane) waiting.begin()
      }
      if (this.#running.index + this.#running.documents === 0) this.#idle?.()
    }
  }
}

function stopping(): RuleError {
  return new RuleError('busy', 'the node is stopping')
}
