/** The matching documents of one answer, without the first `skip`. */
export class ResultPage {
  readonly #skip: number
  readonly #limit: number
  readonly #mostBytes: number
  readonly texts: string[] = []
  /** Ordinal of the last document; undefined: it was added without one. */
  lastOrdinal: number | undefined
  #passed = 0
  #bytes = 0
  #full: boolean

  constructor({ skip, limit, answerBytes }: { skip: number; limit: number; answerBytes: number }) {
    this.#skip = skip
    this.#limit = limit
    this.#mostBytes = answerBytes
    this.#full = limit === 0
  }

  /** Sets the number of matches before those that follow. */
  begin(passed: number): void {
    this.#passed = passed
  }

  /** Matches so far. */
  get passed(): number {
    return this.#passed
  }

  /** Whether no further document belongs to the answer. */
  get isFull(): boolean {
    return this.#full
  }

  /** Whether some of so many further matches, at most, belong to the answer. */
  mayWant(matches: number): boolean {
    return !this.#full && this.#passed + matches > this.#skip
  }

  /** Counts further matches. Returns which of them belong to the answer; undefined if none does. */
  wanted(matches: number): { readonly skip: number; readonly limit: number } | undefined {
    const skip = Math.max(0, this.#skip - this.#passed)
    this.#passed += matches
    if (this.#full || skip >= matches) return undefined
    return { skip, limit: this.#limit - this.texts.length }
  }

  /** Adds a document; whether it fits, and further ones may. */
  add(value: Buffer, ordinal?: number): boolean {
    const fits = this.#bytes + value.length <= this.#mostBytes || this.texts.length === 0
    if (fits) {
      this.texts.push(value.toString('utf8'))
      this.#bytes += value.length
      this.lastOrdinal = ordinal
    }
    this.#full ||= !fits || this.texts.length === this.#limit
    return !this.#full
  }
}
