import { LightError } from '../light/light-error.js'
import { isLasting } from './proved-changes.js'

/** Milliseconds before a second attempt; each further one doubles it, and cuts it by up to a half. */
const firstPause = 250
/** @tuning ms: longest wait before another attempt */
export const longestPause = 30_000
/** Failures in a row from which the operator is told. */
const failuresTold = 4
/**
 * More than a minute with the waits between them: a node that is busy refuses in the same words as one that lacks a document.
 * @tuning count: failures in a row that no wait is likely to mend, after which the watch goes on without the proof
 */
const mostLasting = 10

/** Milliseconds before attempt `number`, from 0 on. */
export function pauseBefore(number: number): number {
  return Math.min(longestPause, firstPause * 2 ** number)
}

/** A chain that contradicts itself is for the operator. */
export function isFork(error: unknown): boolean {
  return error instanceof LightError && error.failure === 'fork'
}

/** Waits of a watch between attempts: they grow with the failures in a row, of events and of proofs alike. */
export class Attempts {
  readonly #signal: AbortSignal | undefined
  readonly #onWaiting: (error: Error) => void
  #failures = 0

  /** `onWaiting`: takes the failure once several came in a row. */
  constructor(signal: AbortSignal | undefined, onWaiting: (error: Error) => void) {
    this.#signal = signal
    this.#onWaiting = onWaiting
  }

  get isOver(): boolean {
    return this.#signal?.aborted === true
  }

  succeeded(): void {
    this.#failures = 0
  }

  /** Waits after a failure, as after `least` failures before it if there were fewer. Ends early when the watch is over. */
  async wait(error: Error, least = 0): Promise<void> {
    this.#failures = Math.max(this.#failures, least) + 1
    if (this.#failures === failuresTold) this.#onWaiting(error)
    await sleep(pauseBefore(this.#failures - 1) * (0.5 + Math.random() / 2), this.#signal)
  }

  /**
   * Repeats a question until it is proved: nodes may be away, or behind. Undefined once the watch is over; the failure where it lasts, so
   * that one operation whose document no node keeps, or one DID that no answer proves, does not hold up all others for ever.
   */
  async untilProved<T>(question: () => Promise<T>): Promise<T | LightError | undefined> {
    for (let lasting = 0; ;) {
      try {
        const answer = await question()
        this.succeeded()
        return answer
      } catch (error) {
        if (this.isOver) return undefined
        if (isFork(error)) throw error
        lasting = isLasting(error) ? lasting + 1 : 0
        if (isLasting(error) && lasting >= mostLasting) return error
        await this.wait(error as Error)
        if (this.isOver) return undefined
      }
    }
  }
}

function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, milliseconds)
    signal?.addEventListener('abort', done, { once: true })
  })
}
