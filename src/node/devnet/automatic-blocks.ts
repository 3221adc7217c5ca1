import type { Producer } from '../../ledger/production/producer.js'
import type { DevnetParts } from './devnet-parts.js'
import type { MiningMode } from './mining-mode.js'

export interface AutomaticBlocksOptions extends Pick<DevnetParts, 'mempool' | 'timers' | 'log'> {
  readonly producer: Producer
  readonly mining: MiningMode
}

/** Makes blocks unasked: for what waits, or at an interval. */
export class AutomaticBlocks {
  readonly #options: AutomaticBlocksOptions
  #cancelTimer: () => void = () => {}
  /** Changes of the chain other than new blocks: an interval that began before one does not apply after it. */
  #changes = 0
  /** The making of blocks, while under way; below it whether a transaction came since it began. */
  #mining: Promise<void> | undefined
  #more = false
  #stopped = false

  constructor(options: AutomaticBlocksOptions) {
    this.#options = options
  }

  start(): void {
    const { mempool, mining } = this.#options
    if (mining.kind === 'automine') mempool.events.on('accepted', () => this.#mineWaiting())
    this.resume()
  }

  /** Ends the interval under way, as the chain was taken back or replaced; {@link resume} begins another. */
  interrupt(): void {
    this.#changes++
  }

  /** Mines pooled transactions, or restarts the interval to the next block. */
  resume(): void {
    const { mempool, mining } = this.#options
    if (mining.kind === 'automine' && mempool.size > 0) this.#mineWaiting()
    if (mining.kind !== 'interval' || this.#stopped) return
    this.#cancelTimer()
    this.#tick(mining.seconds * 1000)
  }

  close(): void {
    this.#stopped = true
    this.#cancelTimer()
  }

  /** Makes blocks until none takes a pooled transaction. Later arrivals go into the next block. */
  #mineWaiting(): void {
    this.#more = true
    this.#mining ??= this.#mineAll().finally(() => (this.#mining = undefined))
  }

  async #mineAll(): Promise<void> {
    const { mempool, producer, log } = this.#options
    while (this.#more && mempool.size > 0 && !this.#stopped) {
      this.#more = false
      try {
        // A revert may run first and empty the pool.
        const block = await producer.produce(() => mempool.size > 0)
        this.#more ||= block === undefined || block.transactions.length > 1
      } catch (error) {
        log.error({ error: String(error) }, 'no block could be made')
      }
    }
  }

  #tick(milliseconds: number): void {
    const { producer, timers, log } = this.#options
    const before = this.#changes
    this.#cancelTimer = timers.after(milliseconds, () => {
      producer
        .produce(() => this.#changes === before)
        .catch((error: unknown) => log.error({ error: String(error) }, 'no block could be made'))
      if (!this.#stopped) this.#tick(milliseconds)
    })
  }
}
