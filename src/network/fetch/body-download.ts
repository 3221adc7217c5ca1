import { maxAuxPowSize } from '../../base/primitives/auxpow.js'
import { ownCopy } from '../../base/primitives/bytes.js'
import { blocksAtOnce, blocksExchange } from '../wire/blocks-message.js'
import { type Assignment, Assignments } from './assignments.js'
import { keepsAll, type PeerProgresses, serves } from './peer-progress.js'
import type { PendingBlock } from './pending-block.js'
import type { PendingHeaders } from './pending-headers.js'
import { type FailedEvent, isUnanswered, type SyncOptions, type SyncPeer } from './sync-peer.js'

/**
 * Requested bodies may turn out larger than announced.
 * @tuning bytes: blocks received or requested, before they connect
 */
export const bodyBytes = 8 * 1024 * 1024
/** @tuning count: peers asked for blocks at once, beside those with overdue answers */
const bodyPeers = 8
/**
 * Each late answer may be large.
 * @tuning count: overdue answers; above that one peer is asked at a time
 */
const overdueAnswers = 16
/** Failed requests to one peer for one block. */
const bodyTries = 3
/** @tuning bytes: blocks of one request */
const questionBytes = 1024 * 1024
/** Minimum bytes assumed for a block. */
const leastBlock = 400

type BodyRequest = Assignment<SyncPeer, PendingBlock>

/** `bodies`: an answer came. `missing`: no peer that may have the block delivers it. */
export type BodyEvent =
  | { readonly type: 'bodies' }
  | { readonly type: 'missing'; readonly block: PendingBlock }
  | FailedEvent

/** Fetches the bodies of the pending headers from several peers at once, lowest first, within a memory bound. */
export class BodyDownload {
  readonly #options: SyncOptions
  readonly #states: PeerProgresses
  readonly #headers: { readonly branch: PendingHeaders }
  readonly #emit: (event: BodyEvent) => void
  readonly #requests: Assignments<SyncPeer, PendingBlock>
  /** Actual size over announced size of blocks; peers announce sizes with headers. */
  #ratio = 1
  #stopped = false

  /** Fetches for the present `branch` of `headers`. */
  constructor(
    options: SyncOptions,
    states: PeerProgresses,
    headers: { readonly branch: PendingHeaders },
    emit: (event: BodyEvent) => void,
  ) {
    this.#options = options
    this.#states = states
    this.#headers = headers
    this.#emit = emit
    this.#requests = new Assignments(options.timers, {
      canMove: (request) => this.#canMove(request),
      onOverdue: (request) => this.#onOverdue(request),
    })
  }

  /** Peers with an open request. */
  get asked(): number {
    return this.#requests.open.size
  }

  /** Bytes of bodies in memory and requested. */
  get bytes(): number {
    let sum = 0
    for (const { body } of this.#headers.branch.blocks) sum += body?.length ?? 0
    for (const { bytes } of this.#requests.open) sum += bytes
    return sum
  }

  close(): void {
    this.#stopped = true
    this.#requests.close()
  }

  /** Requests blocks that no peer is asked for from every idle peer. */
  fill(): void {
    if (this.#stopped) return
    const idle = this.#able().filter((peer) => !this.#states.of(peer).fetching)
    idle.sort((a, b) => this.#states.of(b).rate - this.#states.of(a).rate)
    for (const peer of idle) {
      if (this.#full()) break
      const blocks = this.#choose(peer)
      if (blocks.length > 0) void this.#fetch(peer, blocks)
    }
    const lowest = this.#headers.branch.blocks.find(({ body }) => body === undefined)
    if (lowest === undefined || this.#requests.isOut(lowest)) return
    const able = this.#able()
    if (able.length > 0 && !able.some((peer) => mayGive(peer, lowest))) this.#emit({ type: 'missing', block: lowest })
  }

  /** Whether the request limit is reached. Overdue requests do not count, so that silent peers keep no others out. */
  #full(): boolean {
    const { open } = this.#requests
    const overdue = [...open].filter((request) => request.overdue).length
    return open.size - overdue >= (overdue < overdueAnswers ? bodyPeers : 1)
  }

  #able(): SyncPeer[] {
    const { chain, peers } = this.#options
    const next = chain.tip.header.height + 1
    return peers.all().filter((peer) => serves(peer, next))
  }

  /** Lowest blocks that no peer is asked for, as many as the rate of this peer allows. */
  #choose(peer: SyncPeer): PendingBlock[] {
    const wanted = Math.min(questionBytes, this.#states.of(peer).rate)
    const room = bodyBytes - this.bytes
    const chosen: PendingBlock[] = []
    let bytes = 0
    for (const [i, block] of this.#headers.branch.blocks.entries()) {
      if (block.body !== undefined || this.#requests.isOut(block) || !mayGive(peer, block)) continue
      bytes += this.#sizeOf(block)
      // The lowest always fits, for nothing connects before it, and so does the one that comes while it is connected.
      if (i > 1 && bytes > room) break
      if (chosen.length > 0 && (bytes > wanted || chosen.length === blocksAtOnce)) break
      chosen.push(block)
    }
    return chosen
  }

  #sizeOf(block: PendingBlock): number {
    return this.#possible(this.#possible(block.unit.size) * this.#ratio)
  }

  /** Clamps an announced size, which may be wrong in either direction. */
  #possible(size: number): number {
    const largest = this.#options.chain.spec.limits.blockSize + maxAuxPowSize
    return Math.min(largest, Math.max(leastBlock, size))
  }

  async #fetch(peer: SyncPeer, blocks: readonly PendingBlock[]): Promise<void> {
    const { clock } = this.#options
    const state = this.#states.of(peer)
    const expected = blocks.reduce((sum, block) => sum + this.#sizeOf(block), 0)
    const request = this.#requests.give(peer, blocks, state.patience(expected), expected)
    state.fetching = true
    const asked = clock.now()
    const hashes = blocks.map(({ unit }) => unit.header.hash)
    const answer = await peer.ask(blocksExchange, hashes).catch((error: unknown) => {
      if (!isUnanswered(error)) this.#emit({ type: 'failed', error })
      return undefined
    })
    state.fetching = false
    if (this.#stopped) return
    if (answer !== undefined) {
      const bytes = answer.reduce((sum, { length }) => sum + length, 0)
      state.answered(bytes, clock.now() - asked)
      this.#learnSizes(
        blocks.filter((_, i) => (answer[i]?.length ?? 0) > 0),
        bytes,
      )
    }
    this.#receive(peer, blocks, answer)
    request.release()
    this.#emit({ type: 'bodies' })
    this.fill()
  }

  #learnSizes(blocks: readonly PendingBlock[], bytes: number): void {
    if (blocks.length === 0) return
    const ratio = bytes / blocks.reduce((sum, { unit }) => sum + this.#possible(unit.size), 0)
    this.#ratio = Math.max(ratio, (this.#ratio + ratio) / 2)
  }

  /** Whether another able peer, not overdue itself, may have the lowest block of a request. */
  #canMove({ peer, items: [lowest] }: BodyRequest): boolean {
    const overduePeers = new Set([...this.#requests.open].filter(({ overdue }) => overdue).map((other) => other.peer))
    return this.#able().some(
      (candidate) =>
        candidate !== peer && !overduePeers.has(candidate) && lowest !== undefined && mayGive(candidate, lowest),
    )
  }

  #onOverdue({ peer, patience }: BodyRequest): void {
    this.#states.of(peer).stalled()
    peer.penalise('peer-slow', `no blocks within ${Math.round(patience)} ms`)
    this.fill()
  }

  /** Stores the bodies of an answer; `answer` is undefined when there was none. */
  #receive(peer: SyncPeer, blocks: readonly PendingBlock[], answer: readonly Uint8Array[] | undefined): void {
    const given = answer ?? []
    if (given.length > blocks.length) peer.penalise('peer-message', `${given.length} blocks for ${blocks.length} asked`)
    let withheld = 0
    for (const [i, block] of blocks.entries()) {
      // A list that ends early reached its size limit; an empty list withholds everything.
      if (given.length > 0 && given[i]?.length !== 0) continue
      block.noteMiss(peer)
      if (answer === undefined || !keepsAll(peer)) continue
      block.noteWithheld(peer)
      if (this.#mustHave(peer, block)) withheld++
    }
    if (withheld > 0) peer.penalise('peer-withheld', `${withheld} blocks of its chain are not handed out`)
    for (const [i, block] of blocks.entries()) {
      const bytes = given[i]
      if (bytes === undefined || bytes.length === 0 || block.body !== undefined) continue
      // A copy: the buffer of the answer may be much larger.
      block.give(ownCopy(bytes), peer)
    }
  }

  /** Whether a missing block contradicts the status of the peer. Without validators the peer may be on another branch. */
  #mustHave(peer: SyncPeer, { unit, source }: PendingBlock): boolean {
    const { hasValidators } = this.#options.chain.spec
    return source === peer || (hasValidators && reaches(peer, unit.header.height))
  }
}

/** Whether a peer can be asked for a block. */
function mayGive(peer: SyncPeer, block: PendingBlock): boolean {
  if (block.missesOf(peer) >= bodyTries) return false
  const { height } = block.unit.header
  return block.source === peer ? serves(peer, height) : reaches(peer, height)
}

/** Whether a peer claims to serve a block of its chain at a height. */
function reaches(peer: SyncPeer, height: number): boolean {
  return height <= peer.status.tipHeight && serves(peer, height)
}
