import type { Code } from '../../errors/error-codes.js'
import { RuleError } from '../../errors/rule-error.js'
import { TokenBucket } from '../../runtime/token-bucket.js'
import { peerNumber } from '../address/peer-identity.js'
import { type Link, LinkError } from '../link.js'
import type { PeerAddress } from '../wire/addresses-message.js'
import type { Exchange } from '../wire/exchange.js'
import type { Status } from '../wire/status-message.js'
import type { Delivery } from './merits.js'

/** Another node past the handshake, until it goes. */
export interface Peer {
  /** The first 53 bits of sha256 of its public key. */
  readonly id: number
  /** Short text that names it in logs. */
  readonly name: string
  readonly link: Link
  /** What it last said about itself. */
  readonly status: Status
  readonly closed: boolean
  /**
   * Asks and resolves with the answer. Rejects with a LinkError when none came, which costs the peer something only if it
   * was too late or too long, and with a RuleError `peer-message` when it could not be read, which costs it that.
   */
  ask<Q, A>(exchange: Exchange<Q, A>, question: Q): Promise<A>
  /** Charges it for a broken rule; at 100 points it is banned and gone. Costs nothing where the code costs nothing. */
  penalise(code: Code, detail?: string): void
  /** Notes that it was the first to bring something valid. */
  delivered(delivery: Delivery): void
  close(reason: string): void
}

/** Questions a second that a peer may ask, and how many at once. */
const requestRate = 100
const requestBurst = 500
/** Gossiped messages a second, and how many at once. */
const gossipRate = 500
const gossipBurst = 2000
/** Bytes a second of both, and how many at once. */
const byteRate = 2 * 1024 * 1024
const byteBurst = 16 * 1024 * 1024
/** Milliseconds between two penalties for one flood. */
const floodPause = 1_000

/** What the owner of a connection decides about it. */
export interface PenaltySink {
  now(): number
  penalise(peer: PeerRecord, code: Code, detail: string | undefined): void
  delivered(peer: PeerRecord, delivery: Delivery): void
  closing(peer: PeerRecord, reason: string): void
}

/** A peer as its owner sees it. Times are in milliseconds of the clock. */
export class PeerRecord implements Peer {
  readonly id: number
  readonly link: Link
  readonly since: number
  /** Milliseconds of this node's own beats in which nothing came from it. */
  silence = 0
  /** Whether a question for its status is under way. */
  refreshing = false
  /** When statuses were last exchanged, or it was asked for its. */
  askedAt: number
  /** Hash of the own tip that it was last told. */
  announcedTip: Uint8Array | undefined
  /** New addresses that it may still tell. */
  addressesLeft: number
  /** The addresses that it was told last. */
  servedAddresses: { readonly at: number; readonly addresses: readonly PeerAddress[] } | undefined
  /** Points for late answers; each one in time takes one back, unless the last of another kind was late. */
  slowness = 0
  /** Names of the protocols whose last answer was late. */
  readonly #late = new Set<string>()
  /** Why it was closed by this side. */
  closeReason: string | undefined
  #status: Status
  readonly #sink: PenaltySink
  readonly #requests: TokenBucket
  readonly #gossip: TokenBucket
  readonly #bytes: TokenBucket
  #floodedAt = -Infinity

  constructor(link: Link, status: Status, judge: PenaltySink, addressesLeft: number) {
    this.id = peerNumber(link.publicKey)
    this.link = link
    this.#status = status
    this.#sink = judge
    this.addressesLeft = addressesLeft
    const now = judge.now()
    this.since = now
    this.askedAt = now
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
    this.silence = 0
    this.#late.delete(protocol.name)
    // Quick answers to small questions do not make up for those to large ones that never come.
    if (this.#late.size === 0) this.slowness = Math.max(0, this.slowness - 1)
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
    this.closeReason ??= reason
    this.#sink.closing(this, reason)
    this.link.close()
  }

  learn(status: Status): void {
    this.silence = 0
    this.askedAt = this.#sink.now()
    this.#status = status
  }

  /** Whether a question, or a gossiped message, of so many bytes may be looked at; a flood costs the peer. */
  allowsMessage(kind: 'request' | 'gossip', bytes: number): boolean {
    const now = this.#sink.now()
    const counted = kind === 'request' ? this.#requests : this.#gossip
    this.silence = 0
    if (counted.take(1, now) && this.#bytes.take(bytes, now)) return true
    if (Math.abs(now - this.#floodedAt) >= floodPause) {
      this.#floodedAt = now
      this.penalise('peer-flood', `more than a peer may send (${kind})`)
    }
    return false
  }
}
