import type { Chain } from '../../ledger/chain/chain.js'
import { bodyMatches } from '../../ledger/chain/match-body.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { blockHashOf } from '../../base/primitives/block.js'
import { equalBytes, mapKey } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import { isTimely } from '../../ledger/production/candidates.js'
import type { Env } from '../../base/runtime/env.js'
import { CheckedBlocks } from '../checked-blocks.js'
import type { ProposedBodies } from '../proposed-bodies.js'
import type { BlockVerdict } from '../tendermint/machine-events.js'
import type { VoteNetwork } from '../vote-network.js'

/** @limit count: bodies searched for at once; when full, the oldest search is given up */
const maxSought = 16
/** @limit count: available bodies that no view waited for, kept unchecked; the oldest leaves first */
const maxUnchecked = 2
/** Milliseconds until a body that no peer served is requested again. */
export const fetchPause = 500

export interface BodySearchOptions extends Pick<Env, 'clock' | 'log'> {
  readonly chain: Chain
  readonly network: VoteNetwork
  readonly bodies: ProposedBodies
  readonly height: number
  /** Whether the present view waits for a verdict on a block. */
  wanted(hash: Hash): boolean
  /** Puts a body on disk. */
  keep(header: Header, bytes: Uint8Array): Promise<void>
  /** Reports the verdict on a wanted block; a valid one is on disk. */
  found(header: Header, verdict: BlockVerdict): void
  /** Calls back after a delay in ms, unless the height is decided before; the returned function cancels. */
  after(milliseconds: number, callback: () => void): () => void
  /** Registers work that the node awaits when it stops. */
  track(work: Promise<void>): void
}

/** Finds and checks the bodies of blocks that are voted on at one height, and remembers the verdicts. */
export class BodySearch {
  readonly #options: BodySearchOptions
  readonly #sought = new Map<string, () => void>()
  readonly #checked = new CheckedBlocks()
  /** Trial connects under way or queued. */
  readonly #checking = new Set<Promise<unknown>>()
  /** Fetched, unchecked bodies by hash. Not on disk, for only checked bodies are served. */
  readonly #unchecked = new Map<string, Uint8Array>()
  #closed = false
  /** Resolves when the search is closed: ends waits for other nodes. */
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

  /** Resolves when all trial connects under way are over. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#checking)
  }

  /** The newest valid block that may be proposed: body on disk, time acceptable now. */
  get proposable(): Header | undefined {
    const { bodies, chain, clock } = this.#options
    return this.#checked.newest((header) => bodies.has(header.hash) && isTimely(header, chain, clock))
  }

  /** Adds an own block that is valid and on disk. */
  add(header: Header): void {
    this.#checked.add(header, 'valid')
  }

  close(): void {
    this.#closed = true
    this.#ended(undefined)
    ;[...this.#sought.values()].forEach((giveUp) => giveUp())
  }

  /** Searches for a body until the block has a verdict, which is reported, or is not wanted any more. */
  seek(hash: Hash, header: Header): void {
    const { bodies, found, after, wanted, track } = this.#options
    const id = mapKey(hash)
    const verdict = this.#checked.verdict(hash)
    this.#checked.name(hash)
    // A body dropped for room is searched for again: no signature without the body on disk.
    const usable = verdict === 'invalid' || bodies.has(hash)
    if (verdict !== undefined && usable) return found(header, verdict)
    if (this.#sought.has(id)) return
    if (this.#sought.size >= maxSought) this.#sought.values().next().value?.()
    let active = true
    let wake = () => {}
    const end = () => {
      active = false
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
        while (active) {
          const outcome = await this.#verify(hash)
          if (!active) return
          if (outcome === 'valid' || outcome === 'invalid') {
            end()
            this.#checked.add(header, outcome)
            return found(header, outcome)
          }
          // The view is over and the present one does not name the block. Named again -> searched for again.
          if (!wanted(hash)) return end()
          if (outcome === undefined) await pause()
        }
      })(),
    )
  }

  /**
   * Finds a body and checks the block. Undefined: try again later. `unwanted`: its view was over before the check began; the
   * body is kept in memory. `valid`: the body is on disk.
   */
  async #verify(hash: Hash): Promise<BlockVerdict | 'unwanted' | undefined> {
    const { chain, log, height, keep, wanted } = this.#options
    const id = mapKey(hash)
    const bytes = await this.body(hash)
    if (bytes === undefined) return undefined
    let late = false
    try {
      // A check under way continues after its view, as the block may be proposed again. A queued one does not begin.
      const { header } = await this.#check(bytes, () => !(late = this.#closed || !wanted(hash)))
      if (this.#closed) return undefined
      await keep(header, bytes)
      return 'valid'
    } catch (error) {
      if (!(error instanceof RuleError)) throw error
      if (this.#closed) return undefined
      // Wrong body or full queue -> no verdict.
      if (error.code === 'busy') this.#keepUnchecked(id, bytes)
      if (late) return 'unwanted'
      if (error.code === 'busy' || !(await bodyMatches(bytes, chain.sanity))) return undefined
      log.warn({ height, code: error.code, reason: error.message }, 'a block that is voted on is not valid')
      return 'invalid'
    }
  }

  /** A body from disk, memory or a peer; undefined if no peer serves it or the search is closed. */
  async body(hash: Hash): Promise<Uint8Array | undefined> {
    const { bodies, network } = this.#options
    const id = mapKey(hash)
    const local = bodies.get(hash) ?? this.#unchecked.get(id)
    // Used once: if it belongs to another block, the body is fetched anew.
    this.#unchecked.delete(id)
    const bytes = local ?? (await Promise.race([network.fetch(hash), this.end]))
    return bytes === undefined || this.#closed || !equalBytes(blockHashOf(bytes), hash) ? undefined : bytes
  }

  async #check(bytes: Uint8Array, wanted: () => boolean): Promise<{ readonly header: Header }> {
    const check = this.#options.chain.prepare(bytes, wanted)
    this.#checking.add(check)
    return check.finally(() => this.#checking.delete(check))
  }

  #keepUnchecked(id: string, bytes: Uint8Array): void {
    this.#unchecked.set(id, bytes)
    if (this.#unchecked.size > maxUnchecked) this.#unchecked.delete(this.#unchecked.keys().next().value as string)
  }
}
