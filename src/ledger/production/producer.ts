import type { Chain } from '../chain/chain.js'
import { RuleError } from '../../base/errors/rule-error.js'
import type { Mempool } from '../mempool/mempool.js'
import type { ProgramHash } from '../../base/primitives/address.js'
import type { Block } from '../../base/primitives/block.js'
import type { Random } from '../../base/runtime/env.js'
import { solve } from './solve.js'
import { type Selection, templateOf } from './template.js'
import { untilTaken } from './retry-refused-block.js'

export interface ProducerOptions {
  readonly chain: Chain
  readonly mempool: Mempool
  readonly payTo: ProgramHash
  readonly random: Random
  /** Unix seconds that the next block should carry. */
  time(): number
  /** On a chain with validators, submits a solved block; resolves when it is the tip. */
  offer?(block: Block): Promise<void>
}

/** Makes blocks, one at a time, and submits them as bytes like blocks of other origin. */
export class Producer {
  readonly #options: ProducerOptions
  #last: Promise<unknown> = Promise.resolve()
  #stopped = false
  #end!: () => void
  /** Resolves when the producer stops. */
  readonly #ended = new Promise<void>((resolve) => (this.#end = resolve))

  constructor(options: ProducerOptions) {
    this.#options = options
  }

  /**
   * Makes the next block, if it is still `wanted` when those queued before it are done. Undefined if it is not, was overtaken,
   * or the producer stopped.
   */
  produce(wanted: () => boolean = () => true): Promise<Block | undefined> {
    return this.between(async () => (wanted() ? this.#produce() : undefined))
  }

  /** Runs a job while no block is being made. */
  between<T>(job: () => Promise<T>): Promise<T> {
    const result = this.#last.then(job)
    this.#last = result.catch(() => {})
    return result
  }

  /** Ends the search under way and starts no other. */
  async close(): Promise<void> {
    this.#stopped = true
    this.#end()
    await this.#last
  }

  async #produce(): Promise<Block | undefined> {
    // Transactions that the pool re-evaluates after the last block belong into this one.
    await Promise.race([this.#options.mempool.settled(), this.#ended])
    if (this.#stopped) return undefined
    try {
      return await untilTaken(this.#options, (select) => this.#attempt(select))
    } catch (error) {
      // The tip moved; on a devnet the parent may even have been rewound.
      const overtaken = ['block-stale', 'block-parent-unknown', 'template-stale']
      if (error instanceof RuleError && overtaken.includes(error.code)) return undefined
      throw error
    }
  }

  async #attempt(select: (time: number) => Promise<Selection>): Promise<Block | undefined> {
    const { chain, payTo, random } = this.#options
    if (this.#stopped) return undefined
    const parent = chain.tip
    const selection = await select(this.#options.time())
    const template = templateOf(chain, selection, { payTo, nonce: random.bytes(8) })
    const block = await solve(template, () => this.#stopped || chain.tip !== parent)
    // A template that another block overtook may mix the states of two tips.
    if (block === undefined || chain.tip !== parent) return undefined
    if (this.#options.offer === undefined) {
      return (await chain.acceptBlock(block.bytes)) === 'connected' ? block : undefined
    }
    await this.#options.offer(block)
    return block
  }
}
