import type { Timers } from '../../base/runtime/env.js'

/** Waits for a while, or until it is woken; one that is woken before does not wait. */
export class Waiter {
  readonly #timers: Timers
  #isWoken = false
  #wake: (() => void) | undefined

  constructor(timers: Timers) {
    this.#timers = timers
  }

  wake(): void {
    this.#isWoken = true
    this.#wake?.()
  }

  async wait(milliseconds: number): Promise<void> {
    if (!this.#isWoken) {
      let cancel: (() => void) | undefined
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        cancel = this.#timers.after(milliseconds, resolve)
      })
      cancel?.()
    }
    this.#isWoken = false
    this.#wake = undefined
  }
}
