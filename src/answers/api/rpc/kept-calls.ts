import { asBuffer, ownCopy, ownText } from '../../../base/primitives/bytes.js'
import { ByteCache } from '../../../base/runtime/byte-cache.js'

/** What answers that are kept depend on, beside the rows of one tip. */
export interface KeptSource {
  /** The tip as of which answers given now hold, the same object while it does not move; undefined while the node catches up. */
  readonly answersAt: object | undefined
  /** Unix milliseconds by which documents expire. */
  now(): number
}

/** An answer to one call, as bytes. */
export interface KeptCall {
  readonly method: string
  readonly answer: Buffer
  /** Unix milliseconds from which the answer is another one. */
  readonly until: number
}

/** Answers that follow from the chain alone, by the exact body of their call, until the tip moves or a document expires. */
export class KeptCalls {
  readonly #source: KeptSource
  readonly #calls: ByteCache<KeptCall>
  #at: object | undefined

  constructor(source: KeptSource, bytes: number) {
    this.#source = source
    this.#calls = new ByteCache(bytes)
  }

  /** `body`: its bytes, one character each. */
  get(body: string): KeptCall | undefined {
    if (!this.#follow()) return undefined
    const call = this.#calls.get(body)
    return call === undefined || call.until <= this.#source.now() ? undefined : call
  }

  /** Keeps an answer that was begun while {@link KeptSource.answersAt} was `at`, if it still is. */
  set(body: string, { method, answer, until }: KeptCall, at: object | undefined): void {
    if (!this.#follow() || at !== this.#at) return
    const kept = { method, answer: asBuffer(ownCopy(answer)), until }
    this.#calls.set(ownText(body), kept, answer.length)
  }

  /** Forgets what was of another tip; returns whether anything may be kept now. */
  #follow(): boolean {
    const at = this.#source.answersAt
    if (at !== this.#at) {
      this.#calls.clear()
      this.#at = at
    }
    return at !== undefined
  }
}
