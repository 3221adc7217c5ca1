import type { Outbox } from '../storage/write/outbox.js'

/** State of one shard, as far as the shipper knows it. */
export interface ShippedShard {
  readonly sequence: number
  readonly height: number
}

/** Figures of shipping, for metrics. */
export class ShippingFigures {
  readonly #outbox: Pick<Outbox, 'size'>
  readonly #shards: (ShippedShard | undefined)[]
  #applied: ((seconds: number) => void) | undefined
  faults = 0
  /** Code of the cause for which nothing is shipped any more. */
  end: string | undefined
  /** Whether another node ships to the shards, whose place this one takes when it is gone. */
  isStandingBy = false

  constructor(outbox: Pick<Outbox, 'size'>, shards: number) {
    this.#outbox = outbox
    this.#shards = Array.from({ length: shards }, () => undefined)
  }

  /** States by the number of the shard; undefined until it is known. */
  get shards(): readonly (ShippedShard | undefined)[] {
    return this.#shards
  }

  /** Bytes of rows that wait. */
  get outboxBytes(): number {
    return this.#outbox.size
  }

  /** Takes how many seconds a step of all shards lasted. */
  onApplied(take: (seconds: number) => void): void {
    this.#applied = take
  }

  moved(shard: number, { sequence, height }: ShippedShard): void {
    this.#shards[shard] = { sequence, height }
  }

  applied(seconds: number): void {
    this.#applied?.(seconds)
  }

  failed(): void {
    this.faults++
  }

  standsBy(stands: boolean): void {
    this.isStandingBy = stands
  }

  ended(code: string): void {
    this.end = code
  }
}
