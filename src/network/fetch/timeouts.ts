import type { Timers } from '../../runtime/env.js'

/** Result of a wait that timed out. */
export const timedOut = Symbol('late')

/** Rejects every wait when the sync stops. */
export class SyncStopped extends Error {}

/** Waits with a time limit each; all of them end when the sync stops. */
export class Timeouts {
  readonly #timers: Timers
  readonly #running = new Set<() => void>()
  #stopped = false

  constructor(timers: Timers) {
    this.#timers = timers
  }

  get stopped(): boolean {
    return this.#stopped
  }

  /** Settles like the promise, or resolves with {@link timedOut} on timeout; rejects with {@link SyncStopped} on stop. */
  within<T>(promise: Promise<T>, milliseconds: number): Promise<T | typeof timedOut> {
    return new Promise((resolve, reject) => {
      const stop = () => end(() => reject(new SyncStopped()))
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
      if (this.#stopped) stop()
      else this.#running.add(stop)
    })
  }

  close(): void {
    this.#stopped = true
    for (const end of [...this.#running]) end()
  }
}
