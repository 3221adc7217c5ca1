import { mapKey } from '../../primitives/bytes.js'
import type { Hash } from '../../primitives/hash.js'
import { services } from '../wire/status-message.js'
import type { SyncPeer } from './sync-peer.js'

/** Bytes a second that a peer is taken to send before it has shown what it can, and the least it is taken for. */
const firstRate = 256 * 1024
const leastRate = 32 * 1024
/** Milliseconds that a peer is given for an answer at first, at least and at most. */
const firstPatience = 3_000
const leastPatience = 2_000
const longestPatience = 20_000

/** The end of a peer's chain, as it says or as it passed on. */
export interface Claim {
  readonly height: number
  readonly hash: Hash
}

/** What the sync remembers of one neighbour. */
export class PeerProgress {
  /** Whether a question for headers, or for blocks, is under way; one of each at most. */
  asking = false
  fetching = false
  /** Until then it is not asked for headers, in milliseconds of the clock. */
  backedOffUntil = 0
  /** Questions for headers since its last useful answer that led to nothing: it is asked after those with fewer. */
  failures = 0
  /** Whether its chain has another block at the height of the assumed one. */
  withoutAssumed = false
  /** A tip that it passed on and need not have itself. */
  announcedTip: Claim | undefined
  /** The claim that was followed to its end. */
  #explored: string | undefined
  #rate = firstRate
  #patience = firstPatience

  /** Whether nothing more is to be found behind a claim. */
  isExplored({ hash }: Claim): boolean {
    return this.#explored === mapKey(hash)
  }

  /** All that it has was looked at: what it passed on, and does not have itself, is not waited for. */
  explored({ hash }: Claim): void {
    this.#explored = mapKey(hash)
    this.announcedTip = undefined
  }

  /** There may be more behind its claim than there was. */
  unexplored(): void {
    this.#explored = undefined
  }

  /** Bytes a second that it sent lately. */
  get rate(): number {
    return this.#rate
  }

  /** Milliseconds until an answer of so many bytes is overdue. */
  patience(bytes: number): number {
    return Math.min(longestPatience, this.#patience + (3000 * bytes) / this.#rate)
  }

  answered(bytes: number, milliseconds: number): void {
    const rate = (1000 * bytes) / Math.max(1, milliseconds)
    this.#rate = Math.max(leastRate, (this.#rate + rate) / 2)
    this.#patience = Math.max(leastPatience, this.#patience / 2)
  }

  /** It did not answer in time: it is asked for less, and given more time. */
  stalled(): void {
    this.#rate = Math.max(leastRate, this.#rate / 4)
    this.#patience = Math.min(longestPatience, this.#patience * 2)
  }
}

/** What is remembered of each neighbour, for as long as there is one. */
export class PeerProgresses {
  readonly #states = new WeakMap<SyncPeer, PeerProgress>()

  of(peer: SyncPeer): PeerProgress {
    let state = this.#states.get(peer)
    if (state === undefined) this.#states.set(peer, (state = new PeerProgress()))
    return state
  }
}

/** The end of its chain by its own word. */
export function claimOf({ status }: SyncPeer): Claim {
  return { height: status.tipHeight, hash: status.tipHash }
}

/** Whether a peer hands out all blocks of its chain. */
export function serves({ status, closed }: SyncPeer): boolean {
  return !closed && (status.services & services.wholeChain) !== 0
}
