import { fixedLimits } from '../../primitives/spec.js'
import { blocksAtOnce, blocksExchange } from '../wire/blocks-message.js'
import { type PeerProgresses, serves } from './peer-progress.js'
import { type PendingHeaders, miss, type PendingBlock } from './pending-headers.js'
import { isUnanswered, type SyncOptions, type SyncPeer } from './sync-peer.js'

/** Bytes of blocks that are here and not connected, or under way; what is under way may turn out larger than it was said to be. */
export const bodyBytes = 32 * 1024 * 1024
/** Peers that are asked for blocks at once, beside those whose answers are overdue. */
const bodyPeers = 8
/** Answers that may be overdue; beyond them one peer is asked at a time, for each answer may be large when it comes after all. */
const overdueAnswers = 16
/** How often one peer is asked for a block in vain. */
const bodyTries = 3
/** Bytes that one question is for, at most, and what a block is taken for at least. */
const questionBytes = 2 * 1024 * 1024
const leastBlock = 400

/** A question for blocks that is not answered yet. */
interface Question {
  readonly peer: SyncPeer
  /** What of it nobody else is asked for. */
  readonly open: Set<PendingBlock>
  /** Bytes that are expected. */
  readonly bytes: number
  overdue: boolean
  /** Ends the wait for the time when it is overdue. */
  cancel(): void
}

/** What the download of blocks works for. */
export interface BodyOwner {
  readonly branch: PendingHeaders
  /** Blocks are here that were not. */
  arrived(): void
  /** Nobody who may have the block hands it out. */
  missing(block: PendingBlock): void
  /** Something that must not happen did. */
  failed(error: unknown): void
}

/** Fetches the blocks of the branch from several peers at once, lowest first, as far ahead as the memory for them allows. */
export class BodyDownload {
  readonly #options: SyncOptions
  readonly #states: PeerProgresses
  readonly #owner: BodyOwner
  readonly #questions = new Set<Question>()
  /** How large blocks come out, of what those who sent their headers say. */
  #ratio = 1
  #stopped = false

  constructor(options: SyncOptions, states: PeerProgresses, owner: BodyOwner) {
    this.#options = options
    this.#states = states
    this.#owner = owner
  }

  /** How many peers are being asked. */
  get asked(): number {
    return this.#questions.size
  }

  /** Bytes of blocks in hand and under way. */
  get bytes(): number {
    let sum = 0
    for (const { body } of this.#owner.branch.blocks) sum += body?.length ?? 0
    for (const { bytes } of this.#questions) sum += bytes
    return sum
  }

  stop(): void {
    this.#stopped = true
    for (const question of this.#questions) question.cancel()
  }

  /** Asks every peer that has nothing to do for blocks that nobody is asked for. */
  fill(): void {
    if (this.#stopped) return
    const idle = this.#able().filter((peer) => !this.#states.of(peer).fetching)
    idle.sort((a, b) => this.#states.of(b).rate - this.#states.of(a).rate)
    for (const peer of idle) {
      if (this.#full()) break
      const blocks = this.#choose(peer)
      if (blocks.length > 0) void this.#fetch(peer, blocks)
    }
    const lowest = this.#owner.branch.blocks.find(({ body }) => body === undefined)
    if (lowest?.asked === 0 && this.#able().length > 0 && !this.#able().some((peer) => mayGive(peer, lowest))) {
      this.#owner.missing(lowest)
    }
  }

  /** Whether as many peers are asked as may be: who does not answer must not take the place of one who would. */
  #full(): boolean {
    const overdue = [...this.#questions].filter((question) => question.overdue).length
    return this.#questions.size - overdue >= (overdue < overdueAnswers ? bodyPeers : 1)
  }

  #able(): SyncPeer[] {
    return this.#options.peers.all().filter(serves)
  }

  /** The lowest blocks that nobody is asked for, as many as this peer is good for. */
  #choose(peer: SyncPeer): PendingBlock[] {
    const wanted = Math.min(questionBytes, this.#states.of(peer).rate)
    const room = bodyBytes - this.bytes
    const chosen: PendingBlock[] = []
    let bytes = 0
    for (const [i, block] of this.#owner.branch.blocks.entries()) {
      if (block.body !== undefined || block.asked > 0 || !mayGive(peer, block)) continue
      bytes += this.#sizeOf(block)
      // There is always room for the lowest one: nothing can be connected before it comes.
      if (i > 0 && bytes > room) break
      if (chosen.length > 0 && (bytes > wanted || chosen.length === blocksAtOnce)) break
      chosen.push(block)
    }
    return chosen
  }

  #sizeOf(block: PendingBlock): number {
    return this.#possible(this.#possible(block.unit.size) * this.#ratio)
  }

  /** What is said of a size may be a lie in either direction. */
  #possible(size: number): number {
    const largest = this.#options.chain.spec.limits.blockSize + fixedLimits.auxPowSize
    return Math.min(largest, Math.max(leastBlock, size))
  }

  async #fetch(peer: SyncPeer, blocks: readonly PendingBlock[]): Promise<void> {
    const { clock } = this.#options
    const state = this.#states.of(peer)
    const expected = blocks.reduce((sum, block) => sum + this.#sizeOf(block), 0)
    const question: Question = { peer, open: new Set(blocks), bytes: expected, overdue: false, cancel: () => {} }
    for (const block of blocks) block.asked++
    this.#questions.add(question)
    state.fetching = true
    this.#watch(question, state.patience(expected))
    const asked = clock.now()
    const hashes = blocks.map(({ unit }) => unit.header.hash)
    const answer = await peer.ask(blocksExchange, hashes).catch((error: unknown) => {
      if (!isUnanswered(error)) this.#owner.failed(error)
      return undefined
    })
    question.cancel()
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
    for (const block of question.open) release(question, block)
    this.#questions.delete(question)
    this.#owner.arrived()
    this.fill()
  }

  #learnSizes(blocks: readonly PendingBlock[], bytes: number): void {
    if (blocks.length === 0) return
    const ratio = bytes / blocks.reduce((sum, { unit }) => sum + this.#possible(unit.size), 0)
    this.#ratio = Math.max(ratio, (this.#ratio + ratio) / 2)
  }

  /** Gives the blocks to others when the answer is overdue, if there are others. */
  #watch(question: Question, patience: number): void {
    const { peer } = question
    question.cancel = this.#options.timers.after(patience, () => {
      const [lowest] = question.open
      const stuck = new Set([...this.#questions].filter(({ overdue }) => overdue).map((other) => other.peer))
      const other = this.#able().some(
        (candidate) =>
          candidate !== peer && !stuck.has(candidate) && lowest !== undefined && mayGive(candidate, lowest),
      )
      if (!other) {
        this.#watch(question, patience)
        return
      }
      question.overdue = true
      for (const block of question.open) release(question, block)
      this.#states.of(peer).stalled()
      peer.penalise('peer-slow', `no blocks within ${Math.round(patience)} ms`)
      this.fill()
    })
  }

  /** Takes what an answer brings; undefined when there was none. */
  #receive(peer: SyncPeer, blocks: readonly PendingBlock[], answer: readonly Uint8Array[] | undefined): void {
    const given = answer ?? []
    if (given.length > blocks.length) peer.penalise('peer-message', `${given.length} blocks for ${blocks.length} asked`)
    let withheld = 0
    for (const [i, block] of blocks.entries()) {
      // A list that ends early is full; an empty one withholds everything.
      if (given.length > 0 && given[i]?.length !== 0) continue
      miss(peer, block)
      if (answer === undefined) continue
      block.withheld ||= block.source === peer
      if (this.#mustHave(peer, block)) withheld++
    }
    if (withheld > 0) peer.penalise('peer-withheld', `${withheld} blocks of its chain are not handed out`)
    for (const [i, block] of blocks.entries()) {
      const bytes = given[i]
      if (bytes === undefined || bytes.length === 0 || block.body !== undefined) continue
      // The answer that it came in may be much larger.
      block.body = Uint8Array.from(bytes)
      block.giver = peer
    }
  }

  /** Whether it is a lie not to have the block. Without validators a peer may be on another branch. */
  #mustHave(peer: SyncPeer, { unit, source }: PendingBlock): boolean {
    const { hasValidators } = this.#options.chain.spec
    return source === peer || (hasValidators && unit.header.height <= peer.status.tipHeight)
  }
}

/** Whether a peer can be asked for a block. */
function mayGive(peer: SyncPeer, { unit, source, misses }: PendingBlock): boolean {
  if ((misses?.get(peer.id) ?? 0) >= bodyTries) return false
  return source === peer || unit.header.height <= peer.status.tipHeight
}

function release(question: Question, block: PendingBlock): void {
  if (question.open.delete(block)) block.asked--
}
