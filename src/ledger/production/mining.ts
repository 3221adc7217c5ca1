import type { Chain } from '../chain/chain.js'
import { RuleError } from '../../base/errors/rule-error.js'
import type { Mempool } from '../mempool/mempool.js'
import type { ProgramHash } from '../../base/primitives/address.js'
import type { Block } from '../../base/primitives/block.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Env } from '../../base/runtime/env.js'
import { AuxWork } from './aux-work.js'
import { Miner } from './miner.js'
import { Producer } from './producer.js'

/** @limit count: blocks of one `discretemining` */
export const maxBlocks = 1000

/** Block production of a node on a chain with validators. */
export interface OwnValidator {
  /** Default address that its blocks pay. */
  readonly payTo?: ProgramHash
  /** Unix seconds that the next block should carry. */
  time(): number
  /**
   * Submits a solved block; resolves when it is the tip. Rejects with a RuleError if it is refused: `template-stale` or
   * `block-stale` if another came first.
   */
  offer(block: Block): Promise<void>
  /** Whether it makes blocks without a request for each. */
  readonly automatic: boolean
}

export interface MiningOptions extends Env {
  readonly chain: Chain
  readonly mempool: Mempool
  /** Default address that own blocks pay. */
  readonly payTo?: ProgramHash
  /** Only on a chain with validators; absent there: this node makes no blocks. */
  readonly validator?: OwnValidator
}

/** Makes blocks on request: aux work for outside miners, and own mining. */
export class Mining {
  readonly #options: MiningOptions
  readonly #work: AuxWork
  #miner: Miner | undefined
  #producer: Producer | undefined
  /** Settles when all stopped miners have ended. */
  #ended: Promise<unknown> = Promise.resolve()
  #stopped = false

  constructor(options: MiningOptions) {
    this.#options = options
    this.#work = new AuxWork({ ...options, ...this.#production() })
  }

  /** Whether the node makes blocks without a request for each. */
  get active(): boolean {
    return this.#miner !== undefined || this.#options.validator?.automatic === true
  }

  /** Template for an outside miner. Rejects with `mining-impossible` if this node could not use its work. */
  async template(payTo: ProgramHash): Promise<Block> {
    this.#requireProducer()
    return this.#work.template(payTo)
  }

  /** Submits an AuxPow for the template with this hash in internal order; resolves when the block is the tip. */
  async submit(hash: Hash, auxPow: Uint8Array): Promise<void> {
    await this.#work.submit(hash, auxPow)
  }

  /**
   * Makes blocks one after another and returns them. Rejects with `request-parameter` for a count outside 1 to
   * {@link maxBlocks}, `mining-impossible` without an address to pay, `busy` while another call makes blocks.
   */
  async mine(count: number, payTo?: ProgramHash): Promise<Block[]> {
    if (!Number.isInteger(count) || count < 1 || count > maxBlocks) {
      throw new RuleError('request-parameter', `count: ${count} is not an integer from 1 to ${maxBlocks}`)
    }
    const payee = this.#payee(payTo)
    if (this.#producer !== undefined) throw new RuleError('busy', 'blocks are being made for another call already')
    const producer = new Producer({ ...this.#options, ...this.#production(), payTo: payee })
    this.#producer = producer
    const blocks: Block[] = []
    try {
      while (blocks.length < count) {
        if (this.#stopped) throw new RuleError('busy', 'the node is stopping')
        const block = await producer.produce()
        if (block !== undefined) blocks.push(block)
      }
    } finally {
      this.#producer = undefined
    }
    return blocks
  }

  /**
   * Starts or stops continuous mining. A second start changes the address. Rejects with `mining-impossible` without an
   * address to pay, or on a chain with validators.
   */
  async toggle(mining: boolean, payTo?: ProgramHash): Promise<void> {
    const { chain } = this.#options
    this.#requireProducer()
    if (chain.spec.hasValidators) {
      throw new RuleError(
        'mining-impossible',
        `the blocks of ${chain.spec.name} come from its validators, who were told at their start when to make them`,
      )
    }
    const before = this.#miner
    this.#miner = undefined
    if (mining) this.start(this.#payee(payTo))
    const ended = before?.close()
    this.#ended = Promise.all([this.#ended, ended])
    await ended
  }

  /** Starts continuous mining; throws a UserError on a chain with validators. */
  start(payTo: ProgramHash): void {
    if (this.#stopped) return
    this.#miner = new Miner({ ...this.#options, payTo })
    this.#miner.start()
  }

  /** Ends all work under way. */
  async close(): Promise<void> {
    this.#stopped = true
    await Promise.all([this.#miner?.close(), this.#producer?.close(), this.#ended])
    this.#miner = undefined
  }

  #requireProducer(): void {
    const { chain, validator } = this.#options
    if (chain.spec.hasValidators && validator === undefined) {
      throw new RuleError(
        'mining-impossible',
        `the blocks of ${chain.spec.name} are confirmed by its validators, and this node is none of them`,
      )
    }
  }

  #payee(payTo: ProgramHash | undefined): ProgramHash {
    this.#requireProducer()
    const payee = payTo ?? this.#options.payTo ?? this.#options.validator?.payTo
    if (payee !== undefined) return payee
    throw new RuleError('mining-impossible', 'name an address in paytoaddress, or start the node with --mine ADDRESS')
  }

  #production(): Pick<ConstructorParameters<typeof Producer>[0], 'time' | 'offer'> {
    const { validator, clock } = this.#options
    if (validator !== undefined) return { time: () => validator.time(), offer: (block) => validator.offer(block) }
    return { time: () => Math.floor(clock.now() / 1000) }
  }
}
