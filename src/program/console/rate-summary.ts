import type { Timers } from '../../base/runtime/env.js'

/** Milliseconds of a window, and lines that are shown in each. */
const windowLength = 1_000
const linesShown = 50

/** Lines of a window beyond those shown. */
export interface Unshown {
  readonly more: number
  /** How many of them tell of a failure. */
  readonly failed: number
}

/** Lets so many lines of a kind through in a second, and counts the others. */
export class RateSummary {
  readonly #timers: Timers
  readonly #report: (unshown: Unshown) => void
  readonly #most: number
  #windowEnd = -Infinity
  #shown = 0
  #more = 0
  #failed = 0
  #cancel: (() => void) | undefined

  constructor(timers: Timers, report: (unshown: Unshown) => void, most = linesShown) {
    this.#timers = timers
    this.#report = report
    this.#most = most
  }

  /** Whether a line is shown; a report follows at the end of the window where it is not. */
  admit(failed: boolean): boolean {
    const now = performance.now()
    if (now >= this.#windowEnd) {
      this.flush()
      this.#windowEnd = now + windowLength
      this.#shown = 0
    }
    if (this.#shown < this.#most) {
      this.#shown++
      return true
    }
    this.#more++
    if (failed) this.#failed++
    this.#cancel ??= this.#timers.after(this.#windowEnd - now, () => this.flush())
    return false
  }

  /** Reports at once what was not shown. */
  flush(): void {
    this.#cancel?.()
    this.#cancel = undefined
    if (this.#more === 0) return
    const unshown = { more: this.#more, failed: this.#failed }
    this.#more = 0
    this.#failed = 0
    this.#report(unshown)
  }
}
