/** Rate limiter: so many units a second, with a burst after a quiet time. */
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

  /** Takes `amount` out; false, with nothing taken, if there are not as many units. */
  take(amount: number, now: number): boolean {
    if (!this.has(amount, now)) return false
    this.#tokens -= amount
    return true
  }

  /** Whether there are `amount` units. */
  has(amount: number, now: number): boolean {
    // A clock that was set back adds nothing; time counts from its new value on.
    const elapsed = Math.max(0, now - this.#filled)
    this.#filled = now
    this.#tokens = Math.min(this.#burst, this.#tokens + (elapsed * this.#rate) / 1000)
    return amount <= this.#tokens
  }
}
