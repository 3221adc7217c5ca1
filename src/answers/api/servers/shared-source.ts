import type { ResolveOptions } from '../../../identity/did/resolution.js'
import { RuleError } from '../../../base/errors/rule-error.js'
import type { IdentifierSource, SourceAnswer } from '../../identifiers/identifiers.js'

/** @tuning count: requests of a driver to its node at once */
export const maxAsked = 32
/** @limit count: requests that wait for their turn to ask the node; more are refused as `busy` */
export const maxWaiting = 512

/** A source behind a network: bounds what is asked of it at once, and asks nothing for a client that has left. */
export class SharedSource implements IdentifierSource {
  readonly #source: IdentifierSource
  #asked = 0
  readonly #waiting = new Set<() => void>()

  constructor(source: IdentifierSource) {
    this.#source = source
  }

  /** Rejects as {@link ask} does. */
  resolve(
    did: string,
    options: ResolveOptions,
    request: { readonly signal?: AbortSignal } = {},
  ): Promise<SourceAnswer> {
    return this.ask(() => this.#source.resolve(did, options, request), request.signal)
  }

  /**
   * Asks when it is its turn. Rejects with `busy` where too many wait already, and with the signal's reason when it aborts before its
   * turn.
   */
  async ask<T>(question: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.#turn(signal)
    try {
      return await question()
    } finally {
      this.#asked--
      this.#next()
    }
  }

  async #turn(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted()
    if (this.#asked < maxAsked) {
      this.#asked++
      return
    }
    if (this.#waiting.size >= maxWaiting) throw new RuleError('busy', 'too many requests wait for the node; try again')
    await new Promise<void>((resolve, reject) => {
      const admit = () => {
        leave()
        this.#asked++
        resolve()
      }
      const aborted = () => {
        leave()
        reject(signal?.reason as Error)
      }
      const leave = () => {
        this.#waiting.delete(admit)
        signal?.removeEventListener('abort', aborted)
      }
      this.#waiting.add(admit)
      signal?.addEventListener('abort', aborted, { once: true })
    })
  }

  /** Admits the one that waits longest. */
  #next(): void {
    const [admit] = this.#waiting
    admit?.()
  }
}
