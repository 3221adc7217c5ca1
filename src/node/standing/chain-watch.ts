import type { ChainStall } from '../../answers/api/node-handles.js'
import type { Chain, ChainChange } from '../../ledger/chain/chain.js'
import { defined } from '../../base/primitives/defined.js'
import type { Env } from '../../base/runtime/env.js'
import type { Voting } from '../../voting/voting.js'
import { medianOffset, reportedOffset } from './clock-offset.js'
import { clockBounds } from './pace.js'
import { stallOf, type VoteFacts } from './stall.js'

/** Milliseconds between two looks at the chain. */
export const watchInterval = 1_000
/** Blocks from whose times the clocks of miners follow: more than half of them are of honest ones. */
const minedBlocks = 11

export interface ChainWatchOptions extends Pick<Env, 'clock' | 'log'> {
  readonly chain: Pick<Chain, 'spec' | 'tip' | 'events'>
  /** Absent on a chain without validators. */
  readonly voting?: Pick<Voting, 'status' | 'votes' | 'otherClocks'> | undefined
  /** Connected nodes; undefined: the node has no network. */
  peers(): number | undefined
  catchingUp(): boolean
  /** Whether most peers have blocks that are too far ahead of the own clock. */
  behindByClock(): boolean
}

/**
 * Checks once a second whether the chain advances at this node, and whether its clock agrees with those of the others; logs each change
 * once.
 *
 * Time is counted in looks, not by the clock: a process that was suspended, or whose clock is moved, raises no alarm. Nothing is
 * counted while the node catches up. A stall ends with the next block alone, so it never flaps.
 */
export class ChainWatch {
  readonly #options: ChainWatchOptions
  #tip: Chain['tip']
  /** Looks since the tip became the tip, and since the present step of the vote began. */
  #tipLooks = 0
  #step = ''
  #stepLooks = 0
  #stalled: ChainStall | undefined
  #clockOffset: number | undefined
  /** Milliseconds by which the times of the last mined blocks were ahead of the own clock when they came. */
  #minedOffsets: readonly number[] = []
  readonly #onChange = (change: ChainChange) => this.#noteTime(change)

  constructor(options: ChainWatchOptions) {
    this.#options = options
    this.#tip = options.chain.tip
    if (!options.chain.spec.hasValidators) options.chain.events.on('change', this.#onChange)
  }

  /** Reason why the chain does not advance, since when; undefined while it does. */
  get stalled(): ChainStall | undefined {
    // Before the next look the tip may have moved.
    return this.#options.chain.tip === this.#tip ? this.#stalled : undefined
  }

  /** Seconds by which the clocks of the others are ahead, negative: behind; undefined while they agree well enough. */
  get clockOffset(): number | undefined {
    return this.#clockOffset === undefined ? undefined : Math.round(this.#clockOffset / 1000)
  }

  /** To be called every {@link watchInterval}. */
  look(): void {
    this.#compareClocks()
    const { chain } = this.#options
    if (chain.tip !== this.#tip) this.#goOn()
    else if (!this.#options.catchingUp()) this.#wait()
  }

  close(): void {
    this.#options.chain.events.off('change', this.#onChange)
  }

  #goOn(): void {
    const { chain, clock, log } = this.#options
    this.#tip = chain.tip
    this.#tipLooks = 0
    this.#stepLooks = 0
    if (this.#stalled === undefined) return
    const seconds = Math.max(0, Math.floor(clock.now() / 1000) - this.#stalled.since)
    this.#stalled = undefined
    log.warn({ height: this.#tip.header.height, seconds }, 'the chain goes on')
  }

  #wait(): void {
    const { chain, clock, log, peers, behindByClock } = this.#options
    const { height, time } = this.#tip.header
    this.#tipLooks++
    const vote = this.#voteFacts()
    const tipAge = this.#tipLooks * watchInterval
    const seen = { peers: peers(), behindByClock: behindByClock() }
    const facts = { spec: chain.spec, tip: { height, time }, tipAge, ...seen, ...defined({ vote }) }
    const stall = stallOf(facts, this.#stalled?.reason)
    if (stall === undefined) return
    if (this.#stalled === undefined) log.warn({ height, ...stall }, 'the chain is stalled')
    this.#stalled = { ...stall, since: this.#stalled?.since ?? Math.floor(clock.now() / 1000) }
  }

  #voteFacts(): VoteFacts | undefined {
    const { voting } = this.#options
    if (voting === undefined) return undefined
    const { height, view, step } = voting.status()
    const name = `${height} ${view} ${step}`
    this.#stepLooks = name === this.#step ? this.#stepLooks + 1 : 0
    this.#step = name
    return { view, step, stepAge: this.#stepLooks * watchInterval, votes: voting.votes() }
  }

  #compareClocks(): void {
    const { chain, voting, log } = this.#options
    const { validators, offsets } = voting?.otherClocks() ?? { validators: minedBlocks, offsets: this.#minedOffsets }
    const median = medianOffset(offsets, validators)
    const before = this.#clockOffset !== undefined
    this.#clockOffset = reportedOffset(median, clockBounds(chain.spec), before)
    if (before === (this.#clockOffset !== undefined)) return
    const seconds = Math.round(median / 1000)
    if (before) log.warn({ seconds }, 'the clock of this node agrees with those of the others again')
    else {
      const which = median > 0 ? 'behind those' : 'ahead of those'
      log.warn({ seconds }, `the clock of this node is ${Math.abs(seconds)} s ${which} of the others: set it right`)
    }
  }

  /** Blocks that come in a run are old. */
  #noteTime({ connected, disconnected }: ChainChange): void {
    const [block] = connected
    if (block === undefined || connected.length > 1 || disconnected.length > 0 || this.#options.catchingUp()) return
    const offset = block.header.time * 1000 - this.#options.clock.now()
    this.#minedOffsets = [...this.#minedOffsets.slice(1 - minedBlocks), offset]
  }
}
