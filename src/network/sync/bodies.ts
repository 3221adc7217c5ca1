import { checkProofOfWork } from '../../consensus/auxpow.js'
import { bodyMatchSteps } from '../../consensus/sanity.js'
import { RuleError } from '../../errors.js'
import { auxPowBytes } from '../../primitives/auxpow.js'
import { Block } from '../../primitives/block.js'
import { equalBytes } from '../../primitives/bytes.js'
import { headerSize } from '../../primitives/header.js'
import { runInSlices } from '../../slices.js'
import type { Chain } from '../../chain/chain.js'
import type { HeaderUnit } from '../wire/headers.js'
import { LinkError } from '../link.js'
import { blocksAtOnce, blocksExchange, blocksFill } from '../wire/blocks.js'
import type { Branch, PendingBlock } from './branch.js'
import type { SyncOptions, SyncPeer } from './parts.js'
import { type PeerStates, serves } from './peer-states.js'
import { Stopped, type Waits } from './waits.js'

/** Bytes of blocks that are here and not connected, or under way. What is under way can come out larger by one answer for each peer asked. */
export const bodyBytes = 32 * 1024 * 1024
/** Peers that are asked for blocks at once. */
export const bodyPeers = 8
/** How often a peer is asked for a block in vain. */
export const bodyTries = 3
/** Bytes that one question is for, at most, and what a block is taken for at least. */
const questionBytes = 2 * 1024 * 1024
const leastBlock = 400

/** A question for blocks that is not answered yet. */
interface Question {
  readonly peer: SyncPeer
  readonly blocks: readonly PendingBlock[]
  readonly bytes: number
  overdue: boolean
}

export interface BodyOwner {
  readonly branch: Branch
  /** There are bodies that were not there before. */
  arrived(): void
  /** Nobody who was asked has the block. */
  missing(block: PendingBlock): void
  failed(error: unknown): void
}

/** Fetches the blocks of the branch from several peers at once, lowest first, as far ahead as the memory for them allows. */
export class BodyDownload {
  readonly #options: SyncOptions
  readonly #waits: Waits
  readonly #states: PeerStates
  readonly #owner: BodyOwner
  readonly #questions = new Set<Question>()
  /** A block came out larger than its header's sender said: what they say is not believed any more. */
  #sizesLie = false

  constructor(options: SyncOptions, waits: Waits, states: PeerStates, owner: BodyOwner) {
    this.#options = options
    this.#waits = waits
    this.#states = states
    this.#owner = owner
  }

  /** Peers that are asked at the moment. */
  get peers(): number {
    return this.#questions.size
  }

  /** Bytes of blocks in hand and under way. */
  get bytes(): number {
    let sum = 0
    for (const { body } of this.#owner.branch.blocks) sum += body?.length ?? 0
    for (const { bytes } of this.#questions) sum += bytes
    return sum
  }

  /** Asks every peer that has nothing to do for blocks that nobody is asked for. */
  fill(): void {
    if (this.#waits.stopped) return
    const able = this.#options.peers.all().filter((peer) => serves(peer))
    const idle = able.filter((peer) => !this.#states.of(peer).fetching)
    idle.sort((a, b) => this.#states.of(b).rate - this.#states.of(a).rate)
    for (const peer of idle) {
      if (this.#questions.size >= bodyPeers) break
      const blocks = this.#choose(peer)
      if (blocks.length > 0) void this.#fetch(peer, blocks)
    }
    const [open] = this.#owner.branch.blocks.filter(({ body }) => body === undefined)
    const tried = (peer: SyncPeer) => (open?.misses?.get(peer.id) ?? 0) >= bodyTries
    if (open?.asked === 0 && able.length > 0 && able.every(tried)) this.#owner.missing(open)
  }

  /** The lowest blocks that nobody is asked for, as many as this peer is good for. */
  #choose(peer: SyncPeer): PendingBlock[] {
    const { blocks } = this.#owner.branch
    const { rate } = this.#states.of(peer)
    const wanted = Math.min(questionBytes, rate)
    const room = bodyBytes - this.bytes
    const chosen: PendingBlock[] = []
    let bytes = 0
    for (const [i, block] of blocks.entries()) {
      if (block.body !== undefined || block.asked > 0 || (block.misses?.get(peer.id) ?? 0) >= bodyTries) continue
      const size = this.#sizeOf([block])
      // Nothing can be connected before the lowest block comes, so that there is room for it always.
      const first = i === 0 && chosen.length === 0
      if (!first && bytes + size > room) break
      if (chosen.length > 0 && (bytes + size > wanted || chosen.length === blocksAtOnce)) break
      chosen.push(block)
      bytes += size
    }
    return chosen
  }

  /** Bytes to expect of blocks. */
  #sizeOf(blocks: readonly PendingBlock[]): number {
    if (this.#sizesLie) return blocksFill
    return blocks.reduce((sum, { unit }) => sum + Math.max(leastBlock, unit.size), 0)
  }

  async #fetch(peer: SyncPeer, blocks: readonly PendingBlock[]): Promise<void> {
    const { clock } = this.#options
    const state = this.#states.of(peer)
    const question: Question = { peer, blocks, bytes: this.#sizeOf(blocks), overdue: false }
    const asked = clock.now()
    this.#questions.add(question)
    state.fetching = true
    for (const block of blocks) block.asked++
    const cancel = this.#watch(question)
    let answer: readonly Uint8Array[] = []
    try {
      const wanted = blocks.map(({ unit }) => unit.header.hash)
      answer = await peer.ask(blocksExchange, wanted)
      const bytes = answer.reduce((sum, { length }) => sum + length, 0)
      state.answered(bytes, clock.now() - asked)
    } catch (error) {
      if (!(error instanceof RuleError || error instanceof LinkError)) this.#owner.failed(error)
    }
    cancel()
    try {
      await this.#receive(question, answer, () => {
        state.fetching = false
        this.fill()
      })
    } catch (error) {
      if (!(error instanceof Stopped)) this.#owner.failed(error)
    }
  }
