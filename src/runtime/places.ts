import { RuleError } from '../errors/rule-error.js'

/** A number of places for work that takes memory; who finds none waits in a bounded queue. */
export class Places {
  readonly #waiting: (() => void)[] = []
  readonly #most: number
  readonly #what: string
  #free: number

  /** `most`: places in the queue; `what`: the work, for the refusal. */
  constructor(places: number, most: number, what: string) {
    this.#free = places
    this.#most = most
    this.#what = what
  }

  /** Resolves with the function that gives the place back. `busy` when too many wait; the signal's reason once it aborts. */
  take(signal?: AbortSignal): Promise<() => void> {
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error)
    if (this.#free > 0) {
      this.#free--
      return Promise.resolve(this.#release())
    }
    if (this.#waiting.length >= this.#most) {
      return Promise.reject(new RuleError('busy', `too many ${this.#what} wait; try again`))
    }
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(admit), 1)
        reject(signal?.reason as Error)
      }
      const admit = () => {
        signal?.removeEventListener('abort', leave)
        resolve(this.#release())
      }
      this.#waiting.push(admit)
      signal?.addEventListener('abort', leave, { once: true })
    })
  }

  #release(): () => void {
    let taken = true
    return () => {
      if (!taken) return
      taken = false
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }
}
