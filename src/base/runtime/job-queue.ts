import { RuleError } from '../errors/rule-error.js'

/** Runs jobs one after another, at most `limit` waiting: the one writer of the chain. */
export class JobQueue {
  readonly #limit: number
  #waiting = 0
  #last: Promise<unknown> = Promise.resolve()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** The job's result; rejects with `busy` at once if too many wait already. */
  run<T>(job: () => Promise<T>): Promise<T> {
    if (this.#waiting >= this.#limit) {
      return Promise.reject(new RuleError('busy', `${this.#limit} blocks are waiting already`))
    }
    this.#waiting++
    const result = this.#last.then(job).finally(() => this.#waiting--)
    this.#last = result.catch(() => {})
    return result
  }

  /** Resolves when everything queued so far is done. */
  async idle(): Promise<void> {
    await this.#last
  }
}
