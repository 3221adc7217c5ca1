import type { Chain } from '../chain/chain.js'
import type { KnownHeader } from '../chain/header-index.js'
import { RuleError } from '../../base/errors/rule-error.js'
import type { Mempool } from '../mempool/mempool.js'
import type { ProgramHash } from '../../base/primitives/address.js'
import type { Block } from '../../base/primitives/block.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import type { Header } from '../../base/primitives/header.js'
import type { Env } from '../../base/runtime/env.js'
import { type Candidates, type FetchBody, isTimely } from './candidates.js'
import { solve } from './solve.js'
import { type Selection, templateOf } from './template.js'
import { untilTaken } from './retry-refused-block.js'

/** Lead before a view at which its block is begun, as a multiple of the duration of the last one. */
const leadFactor = 2
/** Smallest share of a block from which the duration of a whole one is estimated. */
const leastMeasured = 0.02

export interface ProposalSourceOptions extends Env {
  readonly chain: Chain
  readonly mempool: Mempool
  readonly candidates: Candidates
  /** Address that own blocks pay; undefined: none are made. */
  readonly payTo: ProgramHash | undefined
}

/** Bounds for a proposer that makes a block. */
export interface Making {
  /** The view of the block. Each failed view before it halves the block. */
  readonly view: number
  /** Whether the block is not needed any more. */
  stop(): boolean
}

/** Bounds for a proposer that searches for a block. */
export interface Search extends Making {
  /** Milliseconds to wait for the body of one candidate before the next one is tried. */
  readonly patience: number
  /** Resolves when waits for other nodes are to end. */
  readonly end: Promise<undefined>
  /** Called when a body arrives after `patience`. */
  late(): void
}

/** A block begun before its view. */
interface EarlyBlock {
  readonly view: number
  readonly parent: KnownHeader
  readonly block: Promise<Block | undefined>
}

/** Source of proposals: a block submitted to this node, else an announced candidate, or one made of the pool. */
export class ProposalSource {
  readonly #options: ProposalSourceOptions
  #early: EarlyBlock | undefined
  /** Milliseconds to make and check a whole block, estimated from the last one made. */
  #fullDuration = Infinity

  constructor(options: ProposalSourceOptions) {
    this.#options = options
  }

  /** A completely checked block on top of the tip; undefined if there is none, or the search stopped. */
  async find(search: Search): Promise<Block | undefined> {
    const { chain, candidates } = this.#options
    const offered = candidates.offered.find(({ header }) => this.#timely(header))
    if (offered !== undefined) return offered
    return chain.spec.producer === 'miners' ? this.#announced(search) : this.#made(search)
  }

  /** Milliseconds before a view at which its block should be begun. */
  lead(view: number): number {
    return leadFactor * this.#fullDuration * Math.max(shareOf(view), leastMeasured)
  }

  /** Begins the block of a coming view, which {@link find} returns. Empty pool or producer `miners` -> no block. */
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
      // Also after the end of the view: the next one of this proposer begins with another candidate.
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

  /** Body of a candidate from a peer; undefined if none serves it within `patience`. */
  async #body(fetch: FetchBody, { patience, end, late }: Search): Promise<Uint8Array | undefined> {
    const fetched = fetch()
    let cancel = () => {}
    const timedOut = new Promise<undefined>((resolve) => {
      cancel = this.#options.timers.after(patience, () => {
        resolve(undefined)
        void fetched.then((bytes) => bytes && late())
      })
    })
    return Promise.race([fetched, timedOut, end]).finally(cancel)
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
    const duration = Math.max(0, clock.now() - began) / Math.max(shareOf(making.view), leastMeasured)
    // An abandoned block -> its duration is a lower bound.
    this.#fullDuration = block === undefined ? Math.max(this.#fullDuration, duration) : duration
    return block
  }

  async #build({ view, stop }: Making): Promise<Block | undefined> {
    const { chain, mempool, clock, random, payTo, log } = this.#options
    if (payTo === undefined) return undefined
    const parent = chain.tip
    const overtaken = () => stop() || chain.tip !== parent
    const time = Math.max(Math.floor(clock.now() / 1000), parent.header.time)
    try {
      const make = async (select: (time: number) => Promise<Selection>) => {
        const template = templateOf(chain, await select(time), { payTo, nonce: random.bytes(8) })
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

/** Share of a block's limits to fill in a view: 2^-view. */
function shareOf(view: number): number {
  return 2 ** -view
}
