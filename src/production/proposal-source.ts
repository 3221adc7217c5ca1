import type { Chain } from '../chain/chain.js'
import type { KnownHeader } from '../chain/header-index.js'
import { RuleError } from '../errors/rule-error.js'
import type { Mempool } from '../mempool/mempool.js'
import type { ProgramHash } from '../primitives/address.js'
import type { Block } from '../primitives/block.js'
import { equalBytes } from '../primitives/bytes.js'
import type { Header } from '../primitives/header.js'
import type { Clock, Log, Random, Timers } from '../runtime/env.js'
import { type Candidates, type FetchBody, isTimely } from './candidates.js'
import { solve } from './solve.js'
import { type Selection, templateOf } from './template.js'
import { untilTaken } from './until-taken.js'

/** A block is begun so many times as long before its view as the last one took. */
const leadFactor = 2
/** Smaller parts of a block than this say nothing about how long a whole one takes. */
const leastMeasured = 0.02

export interface ProposalSourceOptions {
  readonly chain: Chain
  readonly mempool: Mempool
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  readonly log: Log
  readonly candidates: Candidates
  /** Whom blocks of our own making pay. */
  readonly payTo: ProgramHash | undefined
}

/** What a sponsor has to keep to while it makes a block. */
export interface Making {
  /** The view that the block is for. Each view before it failed, so that each halves the block. */
  readonly view: number
  /** Whether it is too late. */
  stop(): boolean
}

/** What a sponsor has to keep to while it looks for a block. */
export interface Search extends Making {
  /** Milliseconds that the body of one candidate is waited for before the next one is tried. */
  readonly patience: number
  /** Resolves when no other node is waited for any more. */
  readonly end: Promise<undefined>
  /** A body came after it was given up. */
  late(): void
}

/** A block that is made before the view that it is for. */
interface EarlyBlock {
  readonly view: number
  readonly parent: KnownHeader
  readonly block: Promise<Block | undefined>
}

/** What a sponsor proposes: a block that was handed in, else one that a miner announced, or one made of the pool. */
export class ProposalSource {
  readonly #options: ProposalSourceOptions
  #early: EarlyBlock | undefined
  /** Milliseconds that a whole block takes to be made and checked, by the last one that was made. */
  #took = Infinity

  constructor(options: ProposalSourceOptions) {
    this.#options = options
  }

  /** A block on top of the tip that was checked completely; undefined when there is none, or it is too late. */
  async find(search: Search): Promise<Block | undefined> {
    const { chain, candidates } = this.#options
    const offered = candidates.offered.find(({ header }) => this.#timely(header))
    if (offered !== undefined) return offered
    return chain.spec.producer === 'miners' ? this.#announced(search) : this.#made(search)
  }

  /** Milliseconds before a view at which to begin with its block. */
  lead(view: number): number {
    return leadFactor * this.#took * Math.max(shareOf(view), leastMeasured)
  }

  /** Begins with the block of a coming view; {@link find} takes it up. Nothing to include -> no block is begun. */
  async begin(making: Making): Promise<void> {
    const { chain, mempool } = this.#options
    if (chain.spec.producer === 'miners' || mempool.size === 0) return
    this.#early = { view: making.view, parent: chain.tip, block: this.#make(making) }
    await this.#early.block
  }

  async #announced(search: Search): Promise<Block | undefined> {
    const { chain, candidates, log } = this.#options
    for (const { header, fetch } of candidates.announced) {
      if (!this.#timely(header)) continue
      const bytes = await this.#body(fetch, search)
      // Also where the view is over by now: the next one of this sponsor begins with another candidate.
      if (bytes === undefined) candidates.withhold(header.hash)
      if (search.stop()) return undefined
      if (bytes === undefined) continue
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

  /** The body that a candidate's miner hands out; undefined when it does not, or too slowly. */
  async #body(fetch: FetchBody, { patience, end, late }: Search): Promise<Uint8Array | undefined> {
    const fetched = fetch()
    let cancel = () => {}
    const enough = new Promise<undefined>((resolve) => {
      cancel = this.#options.timers.after(patience, () => {
        resolve(undefined)
        void fetched.then((bytes) => bytes && late())
      })
    })
    return Promise.race([fetched, enough, end]).finally(cancel)
  }

  async #made(search: Search): Promise<Block | undefined> {
    const early = this.#early
    this.#early = undefined
    const fits = early?.view === search.view && early.parent === this.#options.chain.tip
    const begun = fits ? await early.block : undefined
    return begun ?? (search.stop() ? undefined : this.#make(search))
  }

  async #make(making: Making): Promise<Block | undefined> {
    const { clock } = this.#options
    const began = clock.now()
    const block = await this.#build(making)
    const took = Math.max(0, clock.now() - began) / Math.max(shareOf(making.view), leastMeasured)
    // One that was given up took longer than it was given.
    this.#took = block === undefined ? Math.max(this.#took, took) : took
    return block
  }

  async #build({ view, stop }: Making): Promise<Block | undefined> {
    const { chain, mempool, clock, random, payTo, log } = this.#options
    if (payTo === undefined) return undefined
    const parent = chain.tip
    const overtaken = () => stop() || chain.tip !== parent
    const time = Math.max(Math.floor(clock.now() / 1000), parent.header.time)
    try {
      const make = async (select: () => Promise<Selection>) => {
        const template = templateOf(chain, await select(), { payTo, time, nonce: random.bytes(8) })
        const block = overtaken() ? undefined : await solve(template, overtaken)
        if (block === undefined || overtaken()) return undefined
        return chain.prepare(block.bytes, () => !overtaken())
      }
      return await untilTaken({ chain, mempool }, make, { share: shareOf(view), stop })
    } catch (error) {
      if (!(error instanceof RuleError)) throw error
      if (!overtaken()) log.warn({ reason: error.message }, 'no block of our own could be made')
      return undefined
    }
  }

  #timely(header: Header): boolean {
    return isTimely(header, this.#options.chain, this.#options.clock)
  }
}

/** The part of a block's limits that is filled in a view: half of that of the view before. */
function shareOf(view: number): number {
  return 2 ** -view
}
