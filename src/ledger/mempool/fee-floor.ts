import { RuleError } from '../../base/errors/rule-error.js'
import type { Transaction } from '../../base/primitives/transaction.js'
import type { Clock } from '../../base/runtime/env.js'
import { type Paid, ratePerThousand, rateText } from './fee-rate.js'
import type { PoolLimits } from './policy.js'
import { policyOf } from './types/all-policies.js'

type Limits = Pick<PoolLimits, 'poolSize' | 'floorHalfLife' | 'floorStep'>

/**
 * Least price of a byte for newcomers: rises above what was evicted, so that the same does not come back at once, and sinks
 * with time; nothing while the pool is far from full.
 */
export class FeeFloor {
  readonly #clock: Clock
  readonly #limits: Limits
  readonly #pooled: () => number
  /** Sela for 1000 bytes at {@link #since}. */
  #rate = 0
  /** Milliseconds since the Unix epoch. */
  #since = 0

  /** `pooled`: the bytes in the pool. */
  constructor(clock: Clock, limits: Limits, pooled: () => number) {
    this.#clock = clock
    this.#limits = limits
    this.#pooled = pooled
  }

  /** Sela for 1000 bytes. */
  get perThousand(): number {
    this.#sink()
    return Math.ceil(this.#rate)
  }

  /** Rises above the price of an evicted package; a lower one changes nothing. */
  raise(evicted: Paid): void {
    this.#sink()
    this.#rate = Math.max(this.#rate, Math.min(ratePerThousand(evicted) + this.#limits.floorStep, mostRate))
  }

  /** Sela that so many bytes have to pay, rounded up. */
  priceOf(bytes: number): bigint {
    return (BigInt(this.perThousand) * BigInt(bytes) + 999n) / 1000n
  }

  /** Refuses a transaction that pays less; types that go before all fees are not measured by theirs. */
  require(transaction: Transaction, fee: bigint): void {
    const { bytes } = transaction
    if (fee >= this.priceOf(bytes.length) || policyOf(transaction).first) return
    const needed = `${rateText(this.perThousand)} sela a byte are needed now`
    throw new RuleError('fee-too-low', `${needed}: ${bytes.length} bytes pay ${fee} sela`)
  }

  #sink(): void {
    const now = this.#clock.now()
    const { poolSize, floorHalfLife, floorStep } = this.#limits
    const full = this.#pooled() / poolSize
    const halfLife = full < fairlyFull ? floorHalfLife / 4 : floorHalfLife
    // A clock that was set back stops it for a moment, no longer.
    this.#rate *= 0.5 ** (Math.max(0, now - this.#since) / halfLife)
    this.#since = now
    if (full < farFromFull || this.#rate < floorStep / 2) this.#rate = 0
  }
}

/** Part of its size below which the pool requires nothing more than the chain. */
const farFromFull = 1 / 4
/** Part below which the floor sinks faster. */
const fairlyFull = 1 / 2
/** A number that stays exact when it is rounded up. */
const mostRate = Number.MAX_SAFE_INTEGER
