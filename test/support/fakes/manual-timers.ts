import type { Timers } from '../../../src/base/runtime/env.js'

interface Pending {
  readonly milliseconds: number
  readonly callback: () => void
}

/** Timers that go off when a test says so, in any order; ManualTime keeps the order of a clock. */
export class ManualTimers implements Timers {
  readonly #pending = new Set<Pending>()

  /** Delays of the pending ones, in milliseconds. */
  get pending(): number[] {
    return [...this.#pending].map(({ milliseconds }) => milliseconds)
  }

  after(milliseconds: number, callback: () => void): () => void {
    const timer = { milliseconds, callback }
    this.#pending.add(timer)
    return () => this.#pending.delete(timer)
  }

  /** Lets those go off that were set to so many milliseconds; all when none are given. */
  fire(milliseconds?: number): void {
    for (const timer of [...this.#pending]) {
      if (milliseconds !== undefined && timer.milliseconds !== milliseconds) continue
      if (this.#pending.delete(timer)) timer.callback()
    }
  }
}
