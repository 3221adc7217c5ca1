import { RuleError } from '../../../base/errors/rule-error.js'
import { isHeight, maxHeight } from '../../../base/primitives/height.js'
import type { ChainView } from '../../../ledger/chain/chain-view.js'
import type { ApiLimits } from '../api-limits.js'
import type { AnswerClient } from '../node-handles.js'

/** Header of a request that is to be answered at a height or above. */
const minHeight = 'x-min-height'

/** A request that waits for a block. */
interface Waiter {
  readonly height: number
  readonly share: string
  /** Ends the wait, without a reason once the chain has the height. */
  end(reason?: unknown): void
}

/**
 * Lets requests wait until the chain has a height: a client names the height of what it has seen or written, and gets no older answer from
 * another node. Waiting requests are bounded in number; where all places are taken the client with most of them gives up its oldest to one
 * that has fewer.
 */
export class HeightGate {
  readonly #chain: Pick<ChainView, 'tip' | 'events'>
  readonly #limits: Pick<ApiLimits, 'heightWait' | 'heightWaiting' | 'heightBody'>
  readonly #waiters = new Set<Waiter>()
  #text = '0'
  #textOf = 0

  constructor(
    chain: Pick<ChainView, 'tip' | 'events'>,
    limits: Pick<ApiLimits, 'heightWait' | 'heightWaiting' | 'heightBody'>,
  ) {
    this.#chain = chain
    this.#limits = limits
  }

  /** Height of the tip, as a header has it. */
  get text(): string {
    const { height } = this
    if (height !== this.#textOf) {
      this.#text = String(height)
      this.#textOf = height
    }
    return this.#text
  }

  get height(): number {
    return this.#chain.tip.header.height
  }

  /**
   * Resolves once the chain has a height; undefined: it has it. Rejects with `behind-height` after the patience for it, at once where
   * `held`, the bytes of a body that would wait too, are too many, and with the reason of the client's signal.
   */
  wait(height: number, client: () => AnswerClient, held = 0): Promise<void> | undefined {
    if (height <= this.height) return undefined
    const { share, signal } = client()
    if (held > this.#limits.heightBody || !this.#makeRoom(share)) return Promise.reject(this.#behind(height))
    return new Promise((resolve, reject) => {
      const { chain, leave, waiters } = {
        chain: this.#chain,
        leave: () => waiter.end(signal.reason),
        waiters: this.#waiters,
      }
      const timer = setTimeout(() => waiter.end(this.#behind(height)), this.#limits.heightWait)
      const waiter: Waiter = {
        ...{ height, share },
        end: (reason) => {
          clearTimeout(timer)
          signal.removeEventListener('abort', leave)
          waiters.delete(waiter)
          if (waiters.size === 0) chain.events.off('change', this.#onChange)
          if (reason === undefined) resolve()
          else reject(reason as Error)
        },
      }
      if (waiters.size === 0) chain.events.on('change', this.#onChange)
      waiters.add(waiter)
      signal.addEventListener('abort', leave, { once: true })
      if (signal.aborted) leave()
    })
  }

  readonly #onChange = (): void => {
    for (const waiter of [...this.#waiters]) if (waiter.height <= this.height) waiter.end()
  }

  /** Whether one more request of a client may wait. */
  #makeRoom(share: string): boolean {
    if (this.#waiters.size < this.#limits.heightWaiting) return true
    const counts = new Map<string, number>()
    for (const one of this.#waiters) counts.set(one.share, (counts.get(one.share) ?? 0) + 1)
    const most = Math.max(0, ...counts.values())
    if ((counts.get(share) ?? 0) + 1 >= most) return false
    const going = [...this.#waiters].find((one) => counts.get(one.share) === most)
    going?.end(this.#behind(going.height))
    return going !== undefined
  }

  #behind(height: number): RuleError {
    return new RuleError(
      'behind-height',
      `the node is at height ${this.height}, not yet at ${height}; ask again, or another node`,
    )
  }
}

/** The least height that a request names in its headers; undefined: none. A `request-form` for text that is no height. */
export function leastHeightOf(headers: Readonly<Record<string, string | string[] | undefined>>): number | undefined {
  const text = headers[minHeight]
  if (text === undefined) return undefined
  const height = typeof text === 'string' && /^(0|[1-9][0-9]{0,9})$/.test(text) ? Number(text) : Infinity
  if (height > maxHeight) throw noHeight('X-Min-Height', String(text))
  return height
}

/** Refuses a member `minHeight` of a call that is there and no height, as `request-form`. */
export function requireHeight(value: unknown): void {
  if (value !== undefined && !isHeight(value)) throw noHeight('minHeight', JSON.stringify(value))
}

function noHeight(name: string, text: string): RuleError {
  return new RuleError(
    'request-form',
    `${name}: ${text.slice(0, 40)} is no height; it is a whole number from 0 to ${maxHeight}`,
  )
}
