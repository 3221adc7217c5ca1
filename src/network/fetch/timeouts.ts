import type { Timers } from '../../base/runtime/env.js'

/** Result of a wait that timed out. */
export const timedOut = Symbol('timed out')

/** Rejects every wait when the timeouts close. */
export class TimeoutsClosed extends Error {}

/** Waits with a time limit each; all of them end together. */
export class Timeouts {
  readonly #timers: Timers
  readonly #running = new Set<() => void>()
  #closed = false

  constructor(timers: Timers) {
    this.#timers = timers
  }

  get closed(): boolean {
    return this.#closed
  }

  /** Settles like the promise, or resolves with {@link timedOut} on timeout; rejects with {@link TimeoutsClosed} on close. */
  within<T>(promise: Promise<T>, milliseconds: number): Promise<T | typeof timedOut> {
    return new Promise((resolve, reject) => {
      const stop = () => end(() => reject(new TimeoutsClosed()))
      const cancel = this.#timers.after(milliseconds, () => end(() => resolve(timedOut)))
      const end = (settle: () => void) => {
        cancel()
        this.#running.delete(stop)
        settle()
      }
      promise.then(
        (value) => end(() => resolve(value)),
        (error: unknown) => end(() => reject(error as Error)),
      )
      if (this.#closed) stop()
      else this.#running.add(stop)
    })
  }

  close(): void {
    this.#closed = true
    for (const end of [...this.#running]) end()
  }
}
