/** Lets through so much a second, and a burst of it when nothing came for a while. */
export class TokenBucket {
  readonly #rate: number
  readonly #burst: number
  #tokens: number
  #filled: number

  /** `rate` a second, at most `burst` at once; `now` in milliseconds. */
  constructor(rate: number, burst: number, now: number) {
    this.#rate = rate
    this.#burst = burst
    this.#tokens = burst
    this.#filled = now
  }

  /** Takes `amount` out; false, and nothing taken, where there is not so much. */
  take(amount: number, now: number): boolean {
    if (!this.has(amount, now)) return false
    this.#tokens -= amount
    return true
  }

  /** Whether there is so much. */
  has(amount: number, now: number): boolean {
    // A clock that was set back fills nothing, and begins anew from there.
    const elapsed = Math.max(0, now - this.#filled)
    this.#filled = now
    this.#tokens = Math.min(this.#burst, this.#tokens + (elapsed * this.#rate) / 1000)
    return amount <= this.#tokens
  }
}
