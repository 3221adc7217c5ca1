import type { Timers } from '../../runtime/env.js'

/** What a wait resolves with when nothing came in time. */
export const timedOut = Symbol('late')

/** The sync is stopped: whatever waited is given up. */
export class SyncStopped extends Error {}

/** Waits that end with the time given to them, and all together when the sync stops. */
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

  /** What the promise settles with, or {@link timedOut}; rejects with {@link SyncStopped} when everything ends. */
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

  stop(): void {
    this.#stopped = true
    for (const end of [...this.#running]) end()
  }
}
