/** @tuning ms: age of a figure of the disk until it is read again */
const heldFor = 5_000
/** @tuning ms: how long a scrape waits for a figure of the disk */
const patience = 500
/** @tuning ms: age of a figure of the disk until it counts as unknown */
const forgottenAfter = 60_000

/**
 * A figure that costs a look at the disk. Many who ask share one look, and none waits long for a disk that does not answer: until it
 * does, the last figure counts, and after a minute none.
 */
export class HeldFigure<T> {
  readonly #read: () => Promise<T>
  readonly #now: () => number
  #held: { readonly value: T; readonly at: number } | undefined
  #reading: Promise<void> | undefined

  /** `now`: milliseconds of any clock that does not go back. */
  constructor(read: () => Promise<T>, now: () => number = () => performance.now()) {
    this.#read = read
    this.#now = now
  }

  /** The figure; undefined where it cannot be read. */
  async get(): Promise<T | undefined> {
    if (this.#age() > heldFor) {
      this.#reading ??= this.#look().finally(() => (this.#reading = undefined))
      await withPatience(this.#reading)
    }
    return this.#age() > forgottenAfter ? undefined : this.#held?.value
  }

  #age(): number {
    return this.#held === undefined ? Infinity : this.#now() - this.#held.at
  }

  async #look(): Promise<void> {
    try {
      const value = await this.#read()
      this.#held = { value, at: this.#now() }
    } catch {
      this.#held = undefined
    }
  }
}

/** Waits for work, but not longer than {@link patience}. */
async function withPatience(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, patience)))
  await Promise.race([work, late])
  clearTimeout(timer)
}
