import { asBuffer, ownCopy, ownText } from '../../../base/primitives/bytes.js'
import { ByteCache } from '../../../base/runtime/byte-cache.js'

/** State on which kept answers depend. */
export interface KeptSource {
  /** The tip as of which answers given now hold, the same object while it does not move; undefined: none may be kept. */
  readonly answersAt: object | undefined
  /** Unix milliseconds by which documents expire. */
  now(): number
}

/** An answer as it was sent. */
export interface KeptAnswer {
  readonly body: Buffer
  /** The method of JSON-RPC that gave it. */
  readonly method?: string
  /** Unix milliseconds from which the answer is another one; absent: until the tip moves. */
  readonly until?: number
}

/** Answers that follow from the chain alone, by the text of their request, until the tip moves or a document expires. */
export class KeptAnswers {
  readonly #source: KeptSource
  readonly #answers: ByteCache<KeptAnswer>
  #at: object | undefined

  /** `bytes`: capacity. */
  constructor(source: KeptSource, bytes: number) {
    this.#source = source
    this.#answers = new ByteCache(bytes)
  }

  get(request: string): KeptAnswer | undefined {
    if (!this.#follow()) return undefined
    const answer = this.#answers.get(request)
    if (answer?.until === undefined) return answer
    return answer.until <= this.#source.now() ? undefined : answer
  }

  /** Keeps an answer that was begun while {@link KeptSource.answersAt} was `at`, if it still is. */
  set(request: string, answer: KeptAnswer, at: object | undefined): void {
    if (!this.#follow() || at !== this.#at) return
    const { body } = answer
    this.#answers.set(ownText(request), { ...answer, body: asBuffer(ownCopy(body)) }, body.length)
  }

  /** Forgets what was of another tip; returns whether anything may be kept now. */
  #follow(): boolean {
    const at = this.#source.answersAt
    if (at !== this.#at) {
      this.#answers.clear()
      this.#at = at
    }
    return at !== undefined
  }
}
