import type { EventEmitter } from 'node:events'
import { type Code, meanings } from '../../base/errors/error-codes.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { compareBytes, equalBytes, toHex } from '../../base/primitives/bytes.js'
import type { Env } from '../../base/runtime/env.js'
import { endpointText, plainHost, siteOf } from '../address/ip-address.js'
import { type Link, LinkError, type LinkHandler, newerConnection } from '../link.js'
import { penaltyOf } from '../penalties.js'
import { type Refusal, type Status, type StatusAnswer, statusExchange } from '../wire/status-message.js'
import { Apart } from './apart.js'
import type { Bans } from './bans.js'
import { checkStatus, type Common } from './check-status.js'
import { givingWay, hostBound, leaving, type Occupant } from './inbound-places.js'
import { type Delivery, Merits } from './merits.js'
import { banPoints, type MisbehaviourScores } from './misbehaviour-scores.js'
import { PeerRecord, type Peer, type PenaltySink } from './peer-record.js'

/**
 * Each newcomer is sent the reason of its refusal.
 * @limit count: connections beyond `--inbound` that are answered with a refusal
 */
const inboundSlack = 8
/** @tuning count: inbound slots of which more than one in so many must be free for a host with a banned key */
const scarceShare = 4
/** @limit ms: time for the handshake of a connection */
const handshakeTimeout = 10_000
/** @tuning ms: time to read a refusal until the connection is closed */
const refusalGrace = 1_000
/** Slowness for one late answer; at {@link banPoints} the connection is closed, without a ban. */
const lateAnswer = 10
/** Milliseconds of a ban for broken rules. */
export const banDuration = 24 * 60 * 60 * 1000
/** @tuning count: kept refusals */
const refusalsKept = 32
/** Milliseconds in which a repeated refusal is logged at debug level only. */
const quietFor = 60_000
/** @limit count: new addresses accepted from one connection */
const addressesTaken = 256

export interface PeersEvents {
  /** Handshake done. */
  joined: [Peer]
  left: [peer: Peer, reason: string]
  /** It announced another tip than before. */
  status: [Peer]
}

/** A refused connection and the reason. */
export interface RefusedPeer {
  /** Unix milliseconds. */
  readonly time: number
  /** The peer: `host:port` where this node dialled, else the host. */
  readonly address: string
  /** `us`: this node refused; `them`: the peer did. */
  readonly by: 'us' | 'them'
  readonly code: Code
  readonly reason: string
}

export interface PeerConnectionsOptions extends Pick<Env, 'clock' | 'timers' | 'log'> {
  /** The own 32-byte peer key. */
  readonly publicKey: Uint8Array
  readonly common: Common
  /** Maximum inbound peers, and of these per host. */
  readonly inbound: number
  readonly perHost: number
  readonly bans: Bans
  readonly scores: MisbehaviourScores
  readonly events: EventEmitter<PeersEvents>
  /** The own status as the node of a connection gets it. */
  ownStatus(link: Pick<Link, 'publicKey' | 'host'>): Status
  /** Number of configured addresses of a host: as many inbound connections are always allowed from it. */
  expected(host: string): number
  /** Whether the node of a connection is configured. */
  named(link: Link): boolean
  /** Whether it is configured by its key, not by its host alone. */
  namedByKey(link: Link): boolean
}

/** A connection before or in its handshake. */
interface Arrival {
  /** In milliseconds of the clock. */
  readonly since: number
  /** Whether all peers were asked anew since: the status in it may be from before. */
  outdated: boolean
  cancel: () => void
  /** Resolves when the handshake is done or the connection closed. */
  readonly settled: Promise<void>
  settle(): void
}

/** All connections: admission, handshake, and the consequences of penalties. */
export class PeerConnections implements PenaltySink {
  readonly refusals: RefusedPeer[] = []
  readonly #options: PeerConnectionsOptions
  readonly #arrivals = new Map<Link, Arrival>()
  readonly #peers = new Map<Link, PeerRecord>()
  /** Links on which a refusal was sent. */
  readonly #leaving = new WeakSet<Link>()
  readonly #merits: Merits
  readonly #apart: Apart

  constructor(options: PeerConnectionsOptions) {
    this.#options = options
    this.#merits = new Merits(() => this.now())
    this.#apart = new Apart(() => this.now())
  }

  now(): number {
    return this.#options.clock.now()
  }

  /** Open connections whose handshake is done. */
  all(): readonly PeerRecord[] {
    return [...this.#peers.values()].filter(({ closed }) => !closed)
  }

  peerOf(link: Link): PeerRecord | undefined {
    return this.#peers.get(link)
  }

  ofKey(publicKey: Uint8Array): PeerRecord | undefined {
    return this.all().find(({ link }) => equalBytes(link.publicKey, publicKey))
  }

  /** See {@link LinkHandler.allowsConnection}. */
  admits({ host, inbound, publicKey }: Parameters<LinkHandler['allowsConnection']>[0]): boolean {
    const { bans, publicKey: own } = this.#options
    if (publicKey !== undefined && equalBytes(publicKey, own)) return false
    if (bans.find(publicKey, host) !== undefined) return false
    return !inbound || this.#roomFor(host)
  }

  connected(link: Link): void {
    const { bans, timers } = this.#options
    const banned = bans.find(undefined, link.host) !== undefined
    const allowed = !banned && (!link.inbound || this.#roomFor(link.host))
    const arrival = newArrival(this.now())
    this.#arrivals.set(link, arrival)
    arrival.cancel = timers.after(handshakeTimeout, () => link.close())
    if (!allowed) link.close()
  }

  disconnected(link: Link, given?: string): void {
    this.#settle(link)
    const peer = this.#peers.get(link)
    if (peer === undefined) return
    this.#peers.delete(link)
    const { log, events } = this.#options
    // A transport does not tell a peer that closes from a network that breaks.
    const reason = peer.closeReason ?? given ?? 'the other side closed it, or the network lost it'
    log.info({ peer: peer.name, reason }, 'a peer is gone')
    events.emit('left', peer, reason)
  }

  /** The peer of a connection once its handshake is over; undefined if it failed. */
  async arrived(link: Link): Promise<PeerRecord | undefined> {
    // On an outbound link a request may arrive before the answer to our status.
    if (!link.inbound) await this.#arrivals.get(link)?.settled
    return this.#peers.get(link)
  }

  /**
   * Handshake of an outbound link. Rejects with a RuleError, whose text names the end that refused, or a LinkError; the caller closes the
   * link then.
   */
  async open(link: Link): Promise<PeerRecord> {
    const { status, refusal } = await this.#ask(link)
    const peer = this.#completeHandshake(link, status, refusal)
    if (peer.closed) throw new LinkError('closed', `${link.peer} closed the connection`)
    return peer
  }

  /** Answer to a status, in the handshake and after it. */
  answerStatus(link: Link, status: Status): StatusAnswer {
    if (this.#leaving.has(link)) throw new LinkError('refused', 'it was told that it is not wanted')
    const own = this.#options.ownStatus(link)
    try {
      const peer = this.#peers.get(link)
      if (peer === undefined) this.#completeHandshake(link, status, undefined).announced(own)
      else this.#learn(peer, status, own)
      return { status: own, refusal: undefined }
    } catch (error) {
      if (!(error instanceof RuleError)) throw error
      this.#closeSoon(link)
      return { status: own, refusal: error.code as Refusal }
    }
  }

  /**
   * Asks all peers for their status. Until they answer, what they have said is not current; nor is what they say unasked. `slept`: the
   * machine did, and connections may be dead without a sign. Those on which no answer comes are closed, so that others are opened.
   */
  askAnew(slept: boolean): void {
    for (const arrival of this.#arrivals.values()) arrival.outdated = true
    for (const peer of this.all()) {
      peer.outdate()
      void this.refresh(peer).then((answered) => {
        if (slept && !answered) peer.close('no answer came from it since this machine slept')
      })
    }
  }

  /** Sends the own status and receives that of the peer; resolves with whether it answered. */
  async refresh(peer: PeerRecord): Promise<boolean> {
    const own = this.#options.ownStatus(peer.link)
    const demand = peer.beginRefresh(this.now(), own)
    try {
      const { status, refusal } = await peer.ask(statusExchange, own)
      this.#learn(peer, status, own)
      peer.answered(demand)
      if (refusal !== undefined) throw this.#refused(peer.link, refusal)
      return true
    } catch (error) {
      // LinkError: the heartbeat counts the silence.
      if (error instanceof RuleError) peer.close(error.message)
      else if (!(error instanceof LinkError)) throw error
      return false
    } finally {
      peer.endRefresh()
    }
  }

  penalise(peer: PeerRecord, code: Code, detail: string = meanings[code]): void {
    const penalty = code === 'peer-slow' ? lateAnswer : penaltyOf(code)
    if (penalty === 0 || peer.closed) return
    const { log, scores } = this.#options
    log.debug({ peer: peer.name, code, detail, penalty }, 'a peer broke a rule')
    if (code === 'peer-slow') {
      if (peer.addSlowness(penalty) >= banPoints) peer.close('it answers too late')
    } else if (scores.add(peer.link.publicKey, penalty) >= banPoints) {
      scores.forget(peer.link.publicKey)
      this.#punish(peer, `${code}: ${detail}`)
    }
  }

  delivered({ link }: PeerRecord, delivery: Delivery): void {
    this.#merits.note(link.publicKey, delivery)
  }

  /** Whether a key is refused for a while without a ban. */
  isApart(publicKey: Uint8Array): boolean {
    return this.#apart.has(publicKey)
  }

  /** Bans the key of a peer; if configured or a recent first deliverer, only refuses it for a while. */
  #punish(peer: PeerRecord, reason: string): void {
    const { bans, log, named } = this.#options
    const { link } = peer
    const fields = { peer: link.peer, host: link.host, reason }
    if (named(link) || this.#merits.lately(link.publicKey)) {
      log.warn(fields, 'a peer breaks rules; it is disconnected for a while, and not banned because it is useful')
      this.#apart.part(link.publicKey)
      peer.close(reason)
      return
    }
    log.warn(fields, 'a peer is banned')
    const until = this.now() + banDuration
    void bans.add('key', toHex(link.publicKey), until, reason)
    bans.suspect(link.host, until)
    this.closeBanned()
  }

  /** Closes the connections of banned peers. */
  closeBanned(): void {
    const { bans } = this.#options
    for (const peer of this.all()) {
      const ban = bans.find(peer.link.publicKey, peer.link.host)
      if (ban !== undefined) peer.close(`banned: ${ban.reason}`)
    }
  }

  closing(peer: PeerRecord, reason: string): void {
    this.#options.log.debug({ peer: peer.name, reason }, 'closing the connection to a peer')
  }

  /** Closes all connections. */
  close(): void {
    for (const peer of this.all()) peer.close('this node stops')
    for (const link of [...this.#arrivals.keys()]) {
      link.close()
      this.#settle(link)
    }
  }

  async #ask(link: Link): Promise<StatusAnswer> {
    const { protocol, question, answer } = statusExchange
    return answer.decode(await link.request(protocol, question.encode(this.#options.ownStatus(link))))
  }

  /** Makes a peer of a connection with the status received; throws a RuleError with the reason otherwise. */
  #completeHandshake(link: Link, status: Status, refusal: Refusal | undefined): PeerRecord {
    const known = this.#peers.get(link)
    if (known !== undefined) return known
    try {
      this.#check(link, status)
    } catch (error) {
      if (error instanceof RuleError) this.#remember(link, 'us', error.code, error.message)
      throw error
    }
    if (refusal !== undefined) throw this.#refused(link, refusal)
    const { log, events } = this.#options
    this.ofKey(link.publicKey)?.close(newerConnection)
    const peer = new PeerRecord(link, status, this, addressesTaken)
    if (this.#arrivals.get(link)?.outdated === true) peer.outdate()
    this.#peers.set(link, peer)
    this.#settle(link)
    const { agent, tipHeight } = status
    log.info({ peer: peer.name, inbound: link.inbound, agent, height: tipHeight }, 'a peer is connected')
    events.emit('joined', peer)
    return peer
  }

  #check(link: Link, status: Status): void {
    const { publicKey, common, bans, inbound } = this.#options
    checkStatus(common, status)
    if (equalBytes(link.publicKey, publicKey))
      throw new RuleError('peer-self', 'the address is that of this node itself')
    const ban = bans.find(link.publicKey, link.host)
    if (ban !== undefined) throw new RuleError('peer-banned', `banned until ${isoTime(ban.until)}: ${ban.reason}`)
    if (this.isApart(link.publicKey))
      throw new RuleError('peer-banned', 'it broke rules, and is kept apart for a while')
    const other = this.ofKey(link.publicKey)
    if (other !== undefined && other.link.inbound !== link.inbound && !this.#preferred(link)) {
      throw new RuleError('peer-self', 'there is a connection to it already')
    }
    if (!link.inbound) return
    const peers = this.all().filter((peer) => peer.link.inbound && peer !== other)
    const taken = peers.map((peer) => peer.link)
    if (this.#isExpected(link.host, taken)) return
    const isScarce = taken.length >= inbound - Math.floor(inbound / scarceShare)
    // A configured host alone does not lift the suspicion beyond its configured slots; a configured key does.
    const named = this.#options.namedByKey(link)
    if (isScarce && bans.suspects(link.host) && !named) {
      throw new RuleError('peer-crowded', 'places are scarce, and a key of its host was banned')
    }
    if (taken.length < inbound) return
    const newcomer = { ...this.#occupant(link, this.now(), undefined), named }
    const { peer } = leaving(
      peers.map((one) => this.#occupant(one.link, one.since, one)),
      newcomer,
      inbound,
    )
    if (peer === undefined) throw new RuleError('peer-crowded', `it takes ${inbound} connections at most`)
    peer.close('another node takes its place')
  }

  #occupant(link: Link, since: number, peer: PeerRecord | undefined): Occupant & { peer: typeof peer } {
    const when = (delivery: Delivery) => this.#merits.latest(link.publicKey, delivery)
    const delivered = { block: when('block'), vote: when('vote'), transaction: when('transaction') }
    return { host: link.host, since, named: this.#options.named(link), delivered, peer }
  }

  /** Keeps the one of two simultaneous connections that the smaller key opened. */
  #preferred(link: Link): boolean {
    return compareBytes(link.publicKey, this.#options.publicKey) < 0 === link.inbound
  }

  #learn(peer: PeerRecord, status: Status, own: Status): void {
    try {
      checkStatus(this.#options.common, status)
    } catch (error) {
      if (error instanceof RuleError) this.#remember(peer.link, 'us', error.code, error.message)
      throw error
    }
    const moved = !equalBytes(status.tipHash, peer.status.tipHash)
    peer.learn(status)
    peer.announced(own)
    if (moved) this.#options.events.emit('status', peer)
  }

  #refused(link: Link, code: Refusal): RuleError {
    const reason = `the other side refused: ${meanings[code]}`
    this.#remember(link, 'them', code, reason)
    return new RuleError(code, reason)
  }

  #remember(link: Link, by: RefusedPeer['by'], code: Code, reason: string): void {
    // The remote port of an inbound connection changes each time.
    const address = link.inbound ? plainHost(link.host) : endpointText(link)
    const time = this.now()
    const again = this.refusals.some(
      (one) => one.address === address && one.code === code && time - one.time < quietFor,
    )
    const fields = { peer: link.peer, address, by, code, reason }
    // A peer lost by a refusal: the operator should know of the change behind it.
    const level = this.#peers.has(link) ? 'warn' : 'info'
    this.#options.log[again ? 'debug' : level](fields, 'no connection to a peer')
    this.refusals.push({ time, address, by, code, reason })
    if (this.refusals.length > refusalsKept) this.refusals.shift()
  }

  /** Closes a connection after the peer had time to read the reason. */
  #closeSoon(link: Link): void {
    this.#leaving.add(link)
    const cancel = this.#options.timers.after(refusalGrace, () => link.close())
    const arrival = this.#arrivals.get(link)
    if (arrival === undefined) return
    arrival.cancel()
    arrival.cancel = cancel
  }

  #settle(link: Link): void {
    const arrival = this.#arrivals.get(link)
    if (arrival === undefined) return
    this.#arrivals.delete(link)
    arrival.cancel()
    arrival.settle()
  }

  /** Whether to allow one more inbound connection of a host; if full, one in its handshake may be closed for it. */
  #roomFor(host: string): boolean {
    const { inbound, perHost } = this.#options
    const isOpen = (link: Link) => link.inbound && !link.closed
    const links = [...this.#arrivals.keys(), ...this.#peers.keys()].filter(isOpen)
    if (this.#isExpected(host, links)) return true
    const ofSite = links.filter((link) => siteOf(link.host) === siteOf(host))
    if (ofSite.length >= hostBound(host, inbound, perHost)) return false
    if (links.length < inbound + inboundSlack) return true
    const waiting = [...this.#arrivals]
      .filter(([link]) => isOpen(link) && !this.#leaving.has(link))
      .map(([link, { since }]) => ({ link, host: link.host, since }))
    const slow = givingWay(waiting, host, this.now())
    slow?.link.close()
    return slow !== undefined
  }

  /** Whether one more connection of a host is within the number of its configured addresses. */
  #isExpected(host: string, taken: readonly Link[]): boolean {
    const ofHost = taken.filter((link) => plainHost(link.host) === plainHost(host))
    return ofHost.length < this.#options.expected(host)
  }
}

function newArrival(since: number): Arrival {
  let settle = () => {}
  const settled = new Promise<void>((resolve) => (settle = resolve))
  return { since, outdated: false, cancel: () => {}, settled, settle }
}

function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z')
}
