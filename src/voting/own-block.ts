import type { Chain } from '../chain/chain.js'
import type { Clock, Log, Random } from '../env.js'
import { RuleError } from '../errors.js'
import type { Mempool } from '../mempool/mempool.js'
import { solve } from '../mining/solve.js'
import { buildTemplate } from '../mining/template.js'
import type { ProgramHash } from '../primitives/address.js'
import type { Block } from '../primitives/block.js'
import { equalBytes } from '../primitives/bytes.js'
import type { Header } from '../primitives/header.js'
import type { Candidates } from './candidates.js'

export interface OwnBlockOptions {
  readonly chain: Chain
  readonly mempool: Mempool
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly candidates: Candidates
  /** Whom blocks of our own making pay. */
  readonly payTo: ProgramHash | undefined
}

/** What a sponsor proposes: a block that was handed in, else one that a miner announced, or one made of the pool. */
export class OwnBlock {
  readonly #options: OwnBlockOptions

  constructor(options: OwnBlockOptions) {
    this.#options = options
  }

  /**
   * A block on top of the tip that was checked completely; undefined when there is none, or `stop` says that it is too late.
   * No other node is waited for once `end` has resolved.
   */
  async find(stop: () => boolean, end: Promise<undefined>): Promise<Block | undefined> {
    const { chain, candidates } = this.#options
    const offered = candidates.offered.find(({ header }) => this.#timely(header))
    if (offered !== undefined) return offered
    return chain.spec.producer === 'miners' ? this.#announced(stop, end) : this.#made(stop)
  }

  async #announced(stop: () => boolean, end: Promise<undefined>): Promise<Block | undefined> {
    const { chain, candidates, log } = this.#options
    for (const { header, fetch } of candidates.announced) {
      if (!this.#timely(header)) continue
      const bytes = await Promise.race([fetch(), end])
      if (stop()) return undefined
      if (bytes === undefined) {
        candidates.withhold(header.hash)
        continue
      }
      try {
        const block = await chain.prepare(bytes)
        if (equalBytes(block.header.hash, header.hash)) return block
      } catch (error) {
        if (!(error instanceof RuleError)) throw error
        log.info({ hash: header.id, reason: error.message }, 'a candidate is not valid')
        candidates.drop(header.hash)
      }
    }
    return undefined
  }

  async #made(stop: () => boolean): Promise<Block | undefined> {
    const { chain, mempool, clock, random, payTo, log } = this.#options
    if (payTo === undefined) return undefined
    const parent = chain.tip
    const overtaken = () => stop() || chain.tip !== parent
    const time = Math.max(Math.floor(clock.now() / 1000), parent.header.time)
    try {
      const template = await buildTemplate(chain, mempool, { payTo, time, nonce: random.bytes(8) })
      const block = overtaken() ? undefined : await solve(template, overtaken)
      if (block === undefined || overtaken()) return undefined
      return await chain.prepare(block.bytes)
    } catch (error) {
      if (!(error instanceof RuleError)) throw error
      if (!overtaken()) log.warn({ reason: error.message }, 'a block of our own making was refused')
      return undefined
    }
  }

  #timely(header: Header): boolean {
    return isTimely(header, this.#options.chain, this.#options.clock)
  }
}

/** Whether the time of a block on top of the tip may be proposed now: not too far ahead of the clock, or the parent's. */
export function isTimely({ time }: Header, { spec, tip }: Chain, clock: Clock): boolean {
  return time * 1000 <= Math.max(clock.now() + spec.timing.maxDrift, tip.header.time * 1000)
}
