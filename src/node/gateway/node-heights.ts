import type { Timers } from '../../base/runtime/env.js'
import { requestText } from '../../base/runtime/http-request.js'

/** @tuning ms: from one look at the nodes of a gateway to the next */
const lookInterval = 5000
/** Bounds of the question for a height: a node that hangs holds up the next look alone. */
const bounds = { timeout: 2000, maxAnswer: 64 * 1024 }

/** Heights of the nodes behind a gateway, asked for at intervals. A node that does not answer has none. */
export class NodeHeights {
  readonly #urls: readonly string[]
  readonly #timers: Timers
  readonly #ended = new AbortController()
  #best: number | undefined
  #cancel: () => void = () => {}
  #looking: Promise<void>

  /** Begins at once. `urls`: base URLs of REST ports. */
  constructor(urls: readonly string[], timers: Timers) {
    this.#urls = urls
    this.#timers = timers
    this.#looking = this.#look()
  }

  /** The greatest height that a node named at the last look; undefined: none answered. */
  get best(): number | undefined {
    return this.#best
  }

  async close(): Promise<void> {
    this.#ended.abort()
    this.#cancel()
    await this.#looking
  }

  async #look(): Promise<void> {
    const answers = await Promise.all(this.#urls.map((url) => this.#heightOf(url)))
    const heights = answers.filter((height) => height !== undefined)
    this.#best = heights.length === 0 ? undefined : Math.max(...heights)
    if (this.#urls.length === 0 || this.#ended.signal.aborted) return
    this.#cancel = this.#timers.after(lookInterval, () => (this.#looking = this.#look()))
  }

  async #heightOf(url: string): Promise<number | undefined> {
    const { signal } = this.#ended
    const asked = requestText(`${url}/api/v1/block/height`, undefined, { ...bounds, signal })
    const answer = await asked.catch(() => undefined)
    const height = Number(answer?.headers['x-chain-height'])
    return Number.isSafeInteger(height) && height >= 0 ? height : undefined
  }
}
