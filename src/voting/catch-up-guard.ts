import type { Timers } from '../runtime/env.js'

/** Milliseconds for which a peer's word that there are more blocks is believed while none of them comes. */
const patience = 10_000

/**
 * Whether other nodes have blocks that this one lacks. They only say so: whoever lies stops nobody's vote for longer than
 * {@link patience}, and not a second time. To vote on a height that is decided does no harm, it is of no use.
 */
export class CatchUpGuard {
  readonly #timers: Timers
  readonly #onDoubt: () => void
  #reported: number | undefined
  #tip: number
  #doubted = false
  #cancel: (() => void) | undefined

  /** `onDoubt` is called when it gives up waiting for blocks that others only speak of. */
  constructor(timers: Timers, tip: number, onDoubt: () => void) {
    this.#timers = timers
    this.#onDoubt = onDoubt
    this.#tip = tip
  }

  /** The highest tip that a peer reports; undefined while there is no peer. */
  get bestPeerHeight(): number | undefined {
    return this.#reported
  }

  /** Whether the node should catch up rather than vote. */
  get isBehind(): boolean {
    return !this.#doubted && this.#lacking
  }

  /** What peers report now. */
  setBestPeerHeight(height: number | undefined): void {
    this.#reported = height
    this.#watch()
  }

  /** The tip moved; `run`: by several blocks at once, so that others were ahead indeed. */
  moved(tip: number, run: boolean): void {
    this.#tip = tip
    // One block alone proves nothing: whoever counts votes a moment later than others gets the next one from them. Nor does
    // it give a lie more time.
    if (run) {
      this.#doubted = false
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
      this.#doubted = this.#lacking
      if (this.#doubted) this.#onDoubt()
    })
  }
}
