import { mapKey } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import { recentBlocks, services } from '../wire/status-message.js'
import type { SyncPeer } from './sync-peer.js'

/** Rate (bytes/s) assumed before the first answer, and the least rate assumed. */
const firstRate = 256 * 1024
const leastRate = 32 * 1024
/** Patience (ms): initial and least. */
const firstPatience = 3_000
const leastPatience = 2_000
/** @tuning ms: patience with a peer for an answer with blocks */
const longestPatience = 20_000

/** The tip that a peer announces: its own, or one that it relayed. */
export interface Claim {
  readonly height: number
  readonly hash: Hash
}

/** Sync state of one peer. */
export class PeerProgress {
  /** Whether a request for headers, or for blocks, is open; at most one of each. */
  asking = false
  fetching = false
  /** End of the back-off for header requests, in milliseconds of the clock. */
  backedOffUntil = 0
  /** Whether its last headers were refused because their time is too far ahead of the own clock. */
  aheadOfClock = false
  /** Useless header requests since the last useful answer; peers with fewer are asked first. */
  failures = 0
  /** Whether its chain has another block at the height of the assumed one. */
  withoutAssumed = false
  /**
   * A tip that the peer relayed and need not have itself. `confirmedAt`: when the peer first showed a quorum's confirm of a block
   * that the own chain lacks, in milliseconds of the clock.
   */
  announcedTip: (Claim & { readonly confirmedAt?: number }) | undefined
  /** The claim whose headers were fetched to their end. */
  #explored: string | undefined
  #rate = firstRate
  #patience = firstPatience

  /** Whether no more headers are to be found behind a claim. */
  isExplored({ hash }: Claim): boolean {
    return this.#explored === mapKey(hash)
  }

  /** Marks a claim as explored, and drops the relayed tip, which the peer need not have. */
  explored({ hash }: Claim): void {
    this.#explored = mapKey(hash)
    this.announcedTip = undefined
  }

  /** Forgets that the claim was explored. */
  unexplored(): void {
    this.#explored = undefined
  }

  /** Recent rate in bytes/s. */
  get rate(): number {
    return this.#rate
  }

  /** Milliseconds until an answer of this size is overdue. */
  patience(bytes: number): number {
    return Math.min(longestPatience, this.#patience + (3000 * bytes) / this.#rate)
  }

  answered(bytes: number, milliseconds: number): void {
    const rate = (1000 * bytes) / Math.max(1, milliseconds)
    this.#rate = Math.max(leastRate, (this.#rate + rate) / 2)
    this.#patience = Math.max(leastPatience, this.#patience / 2)
  }

  /** Overdue answer → a lower rate (smaller requests) and more patience. */
  stalled(): void {
    this.#rate = Math.max(leastRate, this.#rate / 4)
    this.#patience = Math.min(longestPatience, this.#patience * 2)
  }
}

/** Sync state of each peer, dropped with the peer. */
export class PeerProgresses {
  readonly #states = new WeakMap<SyncPeer, PeerProgress>()

  of(peer: SyncPeer): PeerProgress {
    let state = this.#states.get(peer)
    if (state === undefined) this.#states.set(peer, (state = new PeerProgress()))
    return state
  }
}

/** The claimed tip of a peer. */
export function claimOf({ status }: SyncPeer): Claim {
  return { height: status.tipHeight, hash: status.tipHash }
}

/** Whether a peer claims to serve the headers of its chain from a height on: all of them, unless it began with a state. */
export function servesHeaders(peer: SyncPeer, from: number): boolean {
  const { status, closed } = peer
  const offered = status.services & (services.recentBlocks | services.recentHeaders)
  return serves(peer, from) || (!closed && offered === services.recentBlocks)
}

/** Whether a peer hands out the end of its chain alone, headers too. */
export function servesEnd({ status, closed }: SyncPeer): boolean {
  return !closed && (status.services & (services.wholeChain | services.recentHeaders)) === services.recentHeaders
}

/** Whether a peer says that its tip shows nothing of what this node may lack: it lacks blocks itself, or follows this node. */
export function showsNothing({ status }: Pick<SyncPeer, 'status'>): boolean {
  return (status.services & services.showsNothing) !== 0
}

/** Whether a peer keeps all blocks of its chain; what another one lacks by now, it may have had a moment ago. */
export function keepsAll({ status }: Pick<SyncPeer, 'status'>): boolean {
  return (status.services & services.wholeChain) !== 0
}

/** Whether a peer claims to serve the blocks of its chain from a height on. */
export function serves({ status, closed }: SyncPeer, from: number): boolean {
  if (closed) return false
  if ((status.services & services.wholeChain) !== 0) return true
  return (status.services & services.recentBlocks) !== 0 && from > status.tipHeight - recentBlocks
}
