import { equalBytes } from '@noble/curves/utils.js'
import type { Code } from '../../base/errors/error-codes.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { TokenBucket } from '../../base/runtime/token-bucket.js'
import { peerNumber } from '../address/peer-identity.js'
import { type Link, LinkError } from '../link.js'
import type { PeerAddress } from '../wire/addresses-message.js'
import type { Exchange } from '../wire/exchange.js'
import type { Announced, Status } from '../wire/status-message.js'
import type { Delivery } from './merits.js'

/** A node whose handshake is done. */
export interface Peer {
  /** The first 53 bits of sha256 of its public key. */
  readonly id: number
  /** Short text that names it in logs. */
  readonly name: string
  readonly link: Link
  /** Its latest status. */
  readonly status: Status
  /** Whether it has sent its status since the peers were asked anew. */
  readonly isCurrent: boolean
  readonly closed: boolean
  /**
   * Sends a request and resolves with the answer. No answer → LinkError, with a penalty only if too late or too long.
   * Malformed answer → RuleError `peer-message`, with its penalty.
   */
  ask<Q, A>(exchange: Exchange<Q, A>, question: Q): Promise<A>
  /** Adds the penalty of a broken rule, if its code has one; at a score of 100 it is banned and disconnected. */
  penalise(code: Code, detail?: string): void
  /** Records that it was the first to deliver something valid. */
  delivered(delivery: Delivery): void
  close(reason: string): void
}

/** Milliseconds between heartbeats; also the minimum between two announcements of tips to one peer. */
export const heartbeat = 1_000
/** Milliseconds between status exchanges without a new tip. */
const statusInterval = 10_000
/** @limit ms: silence after which a peer is disconnected */
const silenceLimit = 60_000
/** @tuning ms: time in which a repeated request of a peer gets the same addresses */
const addressesKept = 10_000
/** @limit count/s: requests of a peer */
const requestRate = 100
/** @limit count: requests of a peer at once */
const requestBurst = 500
/** @limit count/s: gossip messages of a peer */
const gossipRate = 500
/** @limit count: gossip messages of a peer at once */
const gossipBurst = 2000
/** @limit bytes/s: requests and gossip of a peer */
const byteRate = 2 * 1024 * 1024
/** @limit bytes: requests and gossip of a peer at once */
const byteBurst = 16 * 1024 * 1024
/** Milliseconds between two penalties for one flood. */
const floodPause = 1_000

/** Receives penalties and deliveries of a peer. */
export interface PenaltySink {
  now(): number
  penalise(peer: PeerRecord, code: Code, detail: string | undefined): void
  delivered(peer: PeerRecord, delivery: Delivery): void
  closing(peer: PeerRecord, reason: string): void
}

/** A peer with its state and budgets. Times are in milliseconds of the clock. */
export class PeerRecord implements Peer {
  readonly id: number
  readonly link: Link
  readonly since: number
  /** Milliseconds, counted in heartbeats of this node, without any message from it. */
  #silence = 0
  /** Whether a status request to it is pending. */
  #refreshing = false
  /** Time of the last status exchange or status request. */
  #askedAt: number
  /** The part of the own status last announced to it. */
  #announced: Announced | undefined
  /** New addresses that are still accepted from it. */
  #addressesLeft: number
  /** The addresses last sent to it, and when. */
  #served: { readonly at: number; readonly addresses: readonly PeerAddress[] } | undefined
  /** Slowness score; an answer in time lowers it by one unless the last answer of another protocol was late. */
  #slowness = 0
  /** Names of the protocols whose last answer was late. */
  readonly #late = new Set<string>()
  #closeReason: string | undefined
  #status: Status
  /** How often it was to be asked anew, and up to which of these times it has answered. */
  #demands = 0
  #answered = 0
  readonly #sink: PenaltySink
  readonly #requests: TokenBucket
  readonly #gossip: TokenBucket
  readonly #bytes: TokenBucket
  #floodedAt = -Infinity

  constructor(link: Link, status: Status, sink: PenaltySink, addressesLeft: number) {
    this.id = peerNumber(link.publicKey)
    this.link = link
    this.#status = status
    this.#sink = sink
    this.#addressesLeft = addressesLeft
    const now = sink.now()
    this.since = now
    this.#askedAt = now
    this.#requests = new TokenBucket(requestRate, requestBurst, now)
    this.#gossip = new TokenBucket(gossipRate, gossipBurst, now)
    this.#bytes = new TokenBucket(byteRate, byteBurst, now)
  }

  get name(): string {
    return this.link.peer
  }

  get status(): Status {
    return this.#status
  }

  get isCurrent(): boolean {
    return this.#answered === this.#demands
  }

  get closed(): boolean {
    return this.link.closed
  }

  async ask<Q, A>({ protocol, question, answer }: Exchange<Q, A>, value: Q): Promise<A> {
    let bytes: Uint8Array
    try {
      bytes = await this.link.request(protocol, question.encode(value))
    } catch (error) {
      if (error instanceof LinkError && error.failure === 'timeout') {
        this.#late.add(protocol.name)
        this.penalise('peer-slow', protocol.name)
      }
      if (error instanceof LinkError && error.failure === 'too-long') this.penalise('peer-message', error.message)
      throw error
    }
    this.#silence = 0
    this.#late.delete(protocol.name)
    // Quick answers to small requests must not offset missing answers to large ones.
    if (this.#late.size === 0) this.#slowness = Math.max(0, this.#slowness - 1)
    try {
      return answer.decode(bytes)
    } catch (error) {
      if (error instanceof RuleError) this.penalise(error.code, `answer to ${protocol.name}: ${error.message}`)
      throw error
    }
  }

  penalise(code: Code, detail?: string): void {
    this.#sink.penalise(this, code, detail)
  }

  delivered(delivery: Delivery): void {
    this.#sink.delivered(this, delivery)
  }

  close(reason: string): void {
    if (this.link.closed) return
    this.#closeReason ??= reason
    this.#sink.closing(this, reason)
    this.link.close()
  }

  learn(status: Status): void {
    this.#silence = 0
    this.#askedAt = this.#sink.now()
    this.#status = status
  }

  /** Why this node closed it; undefined if the peer did. */
  get closeReason(): string | undefined {
    return this.#closeReason
  }

  /** Counts a heartbeat and closes a silent peer. Not clock time: a suspended node must not drop its peers on resume. */
  beat(): void {
    this.#silence += heartbeat
    if (this.#silence > silenceLimit) this.close('nothing came from it for a minute')
  }

  /** Whether statuses should be exchanged: the peer lacks this part of the own one, or the last exchange is too old. */
  refreshDue(now: number, { tipHash, services }: Announced): boolean {
    const told = this.#announced
    const knows = told !== undefined && told.services === services && equalBytes(told.tipHash, tipHash)
    return !this.#refreshing && Math.abs(now - this.#askedAt) >= (knows ? statusInterval : heartbeat)
  }

  /** Its status is old, and so is the answer to each request that is under way: the next heartbeat asks for another one. */
  outdate(): void {
    this.#demands++
    this.#askedAt = -Infinity
  }

  /** A status request that announces this begins; {@link endRefresh} ends it. Returns what {@link answered} takes. */
  beginRefresh(now: number, own: Announced): number {
    this.#refreshing = true
    this.#askedAt = now
    this.#announced = own
    return this.#demands
  }

  /** The request that began with this number was answered. */
  answered(demand: number): void {
    this.#answered = Math.max(this.#answered, demand)
  }

  endRefresh(): void {
    this.#refreshing = false
  }

  /** The peer got the own status with this part. */
  announced(own: Announced): void {
    this.#announced = own
  }

  /** Whether a further address is accepted from it. */
  get mayAddAddress(): boolean {
    return this.#addressesLeft > 0
  }

  takeAddressSlot(): void {
    this.#addressesLeft--
  }

  /** The addresses to send it: for a while the same ones, because choosing them is expensive. */
  servedAddresses(now: number, choose: () => readonly PeerAddress[]): readonly PeerAddress[] {
    if (this.#served === undefined || Math.abs(now - this.#served.at) >= addressesKept) {
      this.#served = { at: now, addresses: choose() }
    }
    return this.#served.addresses
  }

  /** Raises the slowness score; returns it. */
  addSlowness(points: number): number {
    return (this.#slowness += points)
  }

  /** Whether a request or gossip message of so many bytes is within the budget; if not → `peer-flood` at most once a second. */
  allowsMessage(kind: 'request' | 'gossip', bytes: number): boolean {
    const now = this.#sink.now()
    const counted = kind === 'request' ? this.#requests : this.#gossip
    this.#silence = 0
    if (counted.take(1, now) && this.#bytes.take(bytes, now)) return true
    if (Math.abs(now - this.#floodedAt) >= floodPause) {
      this.#floodedAt = now
      this.penalise('peer-flood', `more than a peer may send (${kind})`)
    }
    return false
  }
}
