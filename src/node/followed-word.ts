import type { Timers } from '../base/runtime/env.js'
import { requestText } from '../base/runtime/http-request.js'
import { type NodeWord, wordIn } from './node-word.js'

/** @tuning ms: from one question of a follower to the next, about the standing of the node that it follows */
const lookInterval = 5000
/** Bounds of a question: a node that hangs holds up the next one alone. */
const bounds = { timeout: 2000, maxAnswer: 64 * 1024 }

/**
 * Asks the node that a follower follows what it says of itself at `/readyz`, at intervals. Its blocks come by the network of peers, where
 * it does not tell that it has lost its own.
 */
export class FollowedWord {
  readonly #url: string
  readonly #timers: Timers
  readonly #ended = new AbortController()
  /** Resolves when it was asked for the first time. */
  readonly looked: Promise<void>
  #word: NodeWord | undefined
  #cancel: () => void = () => {}
  #looking: Promise<void>

  /** Begins at once. `url`: base URL of the REST port. */
  constructor(url: string, timers: Timers) {
    this.#url = url
    this.#timers = timers
    this.looked = this.#looking = this.#look()
  }

  /** Undefined: nothing there says how it is, as where REST is for its own machine alone. */
  get word(): NodeWord | undefined {
    return this.#word
  }

  async close(): Promise<void> {
    this.#ended.abort()
    this.#cancel()
    await this.#looking
  }

  async #look(): Promise<void> {
    const { signal } = this.#ended
    const answer = await requestText(`${this.#url}/readyz`, undefined, { ...bounds, signal }).catch(() => undefined)
    const word = answer && wordIn(answer.text)
    this.#word = word === 'failed' ? undefined : word
    if (signal.aborted) return
    this.#cancel = this.#timers.after(lookInterval, () => (this.#looking = this.#look()))
  }
}
