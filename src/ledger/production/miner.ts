import type { Chain } from '../chain/chain.js'
import { RuleError, UserError } from '../../base/errors/rule-error.js'
import type { Mempool } from '../mempool/mempool.js'
import type { ProgramHash } from '../../base/primitives/address.js'
import type { Env } from '../../base/runtime/env.js'
import { Producer } from './producer.js'

export interface MinerOptions extends Env {
  readonly chain: Chain
  readonly mempool: Mempool
  readonly payTo: ProgramHash
}

/** Mines one block after another on a chain without validators, at least the spec's minInterval apart. */
export class Miner {
  readonly #options: MinerOptions
  readonly #producer: Producer
  #cancel: () => void = () => {}
  #stopped = false
  /** Code or text of the failure that was logged last; undefined once a block was made since. */
  #failure: string | undefined

  constructor(options: MinerOptions) {
    if (options.chain.spec.hasValidators) {
      throw new UserError(`the blocks of ${options.chain.spec.name} come from its validators: it cannot be mined alone`)
    }
    this.#options = options
    this.#producer = new Producer({ ...options, time: () => Math.floor(options.clock.now() / 1000) })
  }

  start(): void {
    const { timers, chain } = this.#options
    this.#cancel = timers.after(chain.spec.timing.minInterval, () => {
      this.#producer
        .produce()
        .then(
          (block) => block && (this.#failure = undefined),
          (error: unknown) => this.#log(error),
        )
        .finally(() => {
          if (!this.#stopped) this.start()
        })
    })
  }

  /** Logs a failure once while it lasts: a tip ahead of a clock that was set back refuses each attempt until the clock is there. */
  #log(error: unknown): void {
    const failure = error instanceof RuleError ? error.code : String(error)
    if (failure === this.#failure) return
    this.#failure = failure
    this.#options.log.warn({ error: String(error) }, 'no block of our own could be made')
  }

  async close(): Promise<void> {
    this.#stopped = true
    this.#cancel()
    await this.#producer.close()
  }
}
