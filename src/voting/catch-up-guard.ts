import type { Timers } from '../base/runtime/env.js'

/** @tuning ms: time for which a peer's higher tip keeps a validator from voting while none of its blocks arrives */
const patience = 10_000

/**
 * Holds votes back while peers claim blocks that this node lacks. A false claim delays votes once, by at most
 * {@link patience}. Votes on a decided height are useless, not harmful.
 */
export class CatchUpGuard {
  readonly #timers: Timers
  readonly #onTimeout: () => void
  #reported: number | undefined
  #tip: number
  #timedOut = false
  #cancel: (() => void) | undefined

  /** `onTimeout` is called when claimed blocks did not arrive within {@link patience}. */
  constructor(timers: Timers, tip: number, onTimeout: () => void) {
    this.#timers = timers
    this.#onTimeout = onTimeout
    this.#tip = tip
  }

  /** The highest tip that a peer reports; undefined while there is no peer. */
  get bestPeerHeight(): number | undefined {
    return this.#reported
  }

  /** Whether a trusted claim is above the tip: the node should catch up rather than vote. */
  get isBehind(): boolean {
    return !this.#timedOut && this.#lacking
  }

  /** Sets the highest tip that peers report now. */
  setBestPeerHeight(height: number | undefined): void {
    this.#reported = height
    this.#watch()
  }

  /** Follows a move of the tip; `run`: by several blocks at once, which proves that peers were ahead. */
  moved(tip: number, run: boolean): void {
    this.#tip = tip
    // A single block proves nothing: a node that counts votes a moment late gets it from peers.
    // So it does not extend the time for a false claim either.
    if (run) {
      this.#timedOut = false
      this.stop()
    }
    this.#watch()
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  get #lacking(): boolean {
    return this.#reported !== undefined && this.#reported > this.#tip
  }

  #watch(): void {
    if (!this.#lacking) return this.stop()
    this.#cancel ??= this.#timers.after(patience, () => {
      this.#cancel = undefined
      this.#timedOut = this.#lacking
      if (this.#timedOut) this.#onTimeout()
    })
  }
}
