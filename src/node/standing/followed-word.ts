import { toHex } from '../../base/primitives/bytes.js'
import type { Env } from '../../base/runtime/env.js'
import { requestText } from '../../base/runtime/http-request.js'
import { type NodeWord, wordIn } from './node-word.js'

/** @tuning ms: from one question of a follower to the next, about the standing of the node that it follows */
const lookInterval = 5000
/** @tuning count: nodes along which a follower follows, as it tells them; a longer ring is not noticed */
const mostFollowed = 16
/** Bounds of a question: a node that hangs holds up the next one alone. */
const bounds = { timeout: 2000, maxAnswer: 64 * 1024 }

/**
 * Asks the node that a follower follows what it says of itself at `/readyz`, at intervals. Its blocks come by the network of peers, where
 * it does not tell that it has lost its own. Each follower tells there along which nodes it follows: one that finds itself among those of the
 * node that it follows is in a ring, of which no node learns of a block.
 */
export class FollowedWord {
  readonly #url: string
  readonly #env: Pick<Env, 'timers' | 'log'>
  /** Names this process among nodes that follow each other. */
  readonly #id: string
  readonly #ended = new AbortController()
  /** Resolves when it was asked for the first time. */
  readonly looked: Promise<void>
  #word: NodeWord | undefined
  #isRing = false
  #cancel: () => void = () => {}
  #looking: Promise<void>

  /** Begins at once. `url`: base URL of the REST port. */
  constructor(url: string, env: Pick<Env, 'timers' | 'log' | 'random'>) {
    this.#url = url
    this.#env = env
    this.#id = toHex(env.random.bytes(8))
    this.looked = this.#looking = this.#look()
  }

  /** Undefined: nothing there says how it is, as where REST is for its own machine alone. */
  get word(): NodeWord | undefined {
    return this.#word
  }

  /** Whether the node that is followed takes its blocks from this one, by other nodes or at once. */
  get isRing(): boolean {
    return this.#isRing
  }

  /** The id of this node, then those of the nodes along which it follows; in a ring each once. */
  get follows(): readonly string[] {
    const ids = this.#word?.follows ?? []
    const end = ids.indexOf(this.#id)
    return [this.#id, ...(end < 0 ? ids : ids.slice(0, end))].slice(0, mostFollowed)
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
    this.#lookForRing()
    this.#cancel = this.#env.timers.after(lookInterval, () => (this.#looking = this.#look()))
  }

  #lookForRing(): void {
    const isRing = this.#word?.follows?.includes(this.#id) === true
    if (isRing && !this.#isRing) {
      this.#env.log.warn(
        { node: this.#url },
        'the node that this one follows takes its blocks from this one, by other nodes or at once: none of them learns of new blocks; follow another node',
      )
    }
    this.#isRing = isRing
  }
}
