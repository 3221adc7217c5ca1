import type { Chain } from '../../chain/chain.js'
import { bodyMatches } from '../../chain/match-body.js'
import { RuleError } from '../../errors/rule-error.js'
import { blockHashOf } from '../../primitives/block.js'
import { equalBytes, mapKey } from '../../primitives/bytes.js'
import type { Hash } from '../../primitives/hash.js'
import type { Header } from '../../primitives/header.js'
import { isTimely } from '../../production/candidates.js'
import type { Clock, Log } from '../../runtime/env.js'
import { CheckedBlocks } from '../checked-blocks.js'
import type { ProposedBodies } from '../proposed-bodies.js'
import type { BlockVerdict } from '../tendermint/machine-events.js'
import type { VoteNetwork } from '../vote-network.js'

/** Bodies that are looked for at once; the one wanted first is given up for another. */
const maxSought = 16
/** Bodies at hand that no view waited for when their turn to be checked came; the oldest goes first. */
const maxUnchecked = 2
/** Milliseconds until a body that no peer served is requested again. */
export const fetchPause = 500

export interface BodySearchOptions {
  readonly chain: Chain
  readonly clock: Clock
  readonly log: Log
  readonly network: VoteNetwork
  readonly bodies: ProposedBodies
  readonly height: number
  /** Whether the present view waits for a verdict on a block. */
  wanted(hash: Hash): boolean
  /** Puts a body on disk. */
  keep(header: Header, bytes: Uint8Array): Promise<void>
  /** A wanted block is checked; a valid one is on disk. */
  found(header: Header, verdict: BlockVerdict): void
  /** Calls back in so many milliseconds, unless the height is decided before; the returned function cancels. */
  after(milliseconds: number, callback: () => void): () => void
  track(work: Promise<void>): void
}

/** Finds the bodies of blocks that are voted on, checks them, and remembers what came of it, for one height. */
export class BodySearch {
  readonly #options: BodySearchOptions
  readonly #sought = new Map<string, () => void>()
  readonly #checked = new CheckedBlocks()
  /** Trial connects that are under way, or wait for their turn. */
  readonly #checking = new Set<Promise<unknown>>()
  /** Bodies that were fetched and not checked, by hash. They are not on disk: what others are given was checked. */
  readonly #unchecked = new Map<string, Uint8Array>()
  #closed = false
  /** Resolves when the search is closed: for what waits for other nodes. */
  readonly end: Promise<undefined>
  #ended!: (value: undefined) => void

  constructor(options: BodySearchOptions) {
    this.#options = options
    this.end = new Promise((resolve) => (this.#ended = resolve))
  }

  /** Whether a trial connect is under way. */
  get busy(): boolean {
    return this.#checking.size > 0
  }

  /** Resolves when all trial connects that have begun are over. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#checking)
  }

  /** The newest block that was checked, of those that may be proposed: its body is on disk and its time acceptable now. */
  get proposable(): Header | undefined {
    const { bodies, chain, clock } = this.#options
    return this.#checked.newest((header) => bodies.has(header.hash) && isTimely(header, chain, clock))
  }

  /** Remembers an own block: checked, valid and on disk. */
  add(header: Header): void {
    this.#checked.add(header, 'valid')
  }

  close(): void {
    this.#closed = true
    this.#ended(undefined)
    ;[...this.#sought.values()].forEach((giveUp) => giveUp())
  }

  /** Reports the verdict on a block as soon as its body is in hand and checked, while it is wanted. */
  seek(hash: Hash, header: Header): void {
    const { bodies, found, after, wanted, track } = this.#options
    const id = mapKey(hash)
    const verdict = this.#checked.verdict(hash)
    this.#checked.name(hash)
    // Nothing is signed for a block whose body went to make room for others: it is looked for again.
    const atHand = verdict === 'invalid' || bodies.has(hash)
    if (verdict !== undefined && atHand) return found(header, verdict)
    if (this.#sought.has(id)) return
    if (this.#sought.size >= maxSought) this.#sought.values().next().value?.()
    let going = true
    let wake = () => {}
    const end = () => {
      going = false
      this.#sought.delete(id)
      wake()
    }
    this.#sought.set(id, end)
    const pause = () =>
      new Promise<void>((resolve) => {
        const cancel = after(fetchPause, resolve)
        wake = () => {
          cancel()
          resolve()
        }
      })
    track(
      (async () => {
        while (going) {
          const outcome = await this.#judge(hash)
          if (!going) return
          if (outcome === 'valid' || outcome === 'invalid') {
            end()
            this.#checked.add(header, outcome)
            return found(header, outcome)
          }
          // The view is over, and the present one does not name the block. Named again, it is sought again.
          if (!wanted(hash)) return end()
          if (outcome === undefined) await pause()
        }
      })(),
    )
  }

  /**
   * Looks for a body and judges the block. Undefined: to be tried again later. `unwanted`: its turn to be checked came after
   * its view, and its body is kept for another. A valid one is on disk.
   */
  async #judge(hash: Hash): Promise<BlockVerdict | 'unwanted' | undefined> {
    const { chain, log, height, keep, wanted } = this.#options
    const id = mapKey(hash)
    const bytes = await this.body(hash)
    if (bytes === undefined) return undefined
    let late = false
    try {
      // A check that has begun goes on after its view: this node or another may propose the block again. Others do not begin.
      const { header } = await this.#check(bytes, () => !(late = this.#closed || !wanted(hash)))
      if (this.#closed) return undefined
      await keep(header, bytes)
      return 'valid'
    } catch (error) {
      if (!(error instanceof RuleError)) throw error
      if (this.#closed) return undefined
      // Wrong body or full queue -> nothing is known of the block.
      if (error.code === 'busy') this.#lay(id, bytes)
      if (late) return 'unwanted'
      if (error.code === 'busy' || !(await bodyMatches(bytes, chain.sanity))) return undefined
      log.warn({ height, code: error.code, reason: error.message }, 'a block that is voted on is not valid')
      return 'invalid'
    }
  }

  /** From the disk, or from a peer that serves it; undefined when none does, or it is too late. */
  async body(hash: Hash): Promise<Uint8Array | undefined> {
    const { bodies, network } = this.#options
    const id = mapKey(hash)
    const atHand = bodies.get(hash) ?? this.#unchecked.get(id)
    // Taken once: one that turns out to be another block's body is fetched anew.
    this.#unchecked.delete(id)
    const bytes = atHand ?? (await Promise.race([network.fetch(hash), this.end]))
    return bytes === undefined || this.#closed || !equalBytes(blockHashOf(bytes), hash) ? undefined : bytes
  }

  async #check(bytes: Uint8Array, wanted: () => boolean): Promise<{ readonly header: Header }> {
    const check = this.#options.chain.prepare(bytes, wanted)
    this.#checking.add(check)
    return check.finally(() => this.#checking.delete(check))
  }

  #lay(id: string, bytes: Uint8Array): void {
    this.#unchecked.set(id, bytes)
    if (this.#unchecked.size > maxUnchecked) this.#unchecked.delete(this.#unchecked.keys().next().value as string)
  }
}
