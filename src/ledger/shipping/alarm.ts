import type { Timers } from '../../base/runtime/env.js'

/** A timer that calls back a fixed time after it was last set, and counts as ringing until it is set again or stopped. */
export class Alarm {
  readonly #timers: Timers
  readonly #milliseconds: number
  readonly #rang: () => void
  #cancel: (() => void) | undefined
  isRinging = false

  constructor(timers: Timers, milliseconds: number, rang: () => void) {
    this.#timers = timers
    this.#milliseconds = milliseconds
    this.#rang = rang
  }

  set(): void {
    this.stop()
    this.#cancel = this.#timers.after(this.#milliseconds, () => this.ring())
  }

  ring(): void {
    this.isRinging = true
    this.#rang()
  }

  stop(): void {
    this.#cancel?.()
    this.isRinging = false
  }
}
