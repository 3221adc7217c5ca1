import type { EventEmitter } from 'node:events'
import type { Env } from '../../env.js'
import { type Code, codes, RuleError } from '../../errors.js'
import { compareBytes, equalBytes, toHex } from '../../primitives/bytes.js'
import { type Link, LinkError, type LinkOwner } from '../link.js'
import { type Refusal, type Status, type StatusAnswer, statusExchange } from '../wire/status.js'
import { endpointText, plainHost, reachOf, siteOf } from './address.js'
import type { Bans } from './bans.js'
import { checkStatus, type Common } from './handshake.js'
import { ConnectedPeer, type Peer, type PeerJudge } from './peer.js'
import { banPoints, type Points } from './points.js'

/** Connections beyond the peers that the other side may have opened: enough to tell each why it is not wanted. */
const inboundSlack = 8
/** Connections that one host, or one /64 of IPv6, may open; hosts of this machine and of local networks excepted. */
const inboundPerHost = 8
/** Milliseconds for the handshake, and until a connection is closed whose other side was told that it is not wanted. */
const handshakeTimeout = 10_000
const refusalGrace = 1_000
/** Points for one late answer; at {@link banPoints} the connection ends, without a ban. */
const lateAnswer = 10
/** Milliseconds of a ban for broken rules. */
export const banDuration = 24 * 60 * 60 * 1000
/** Refusals that are remembered. */
const refusalsKept = 32
/** Milliseconds in which a refusal that repeats itself is no news. */
const quietFor = 60_000
/** New addresses that are taken from one connection. */
const addressesTaken = 256

export interface PeersEvents {
  /** Past the handshake. */
  joined: [Peer]
  left: [Peer]
  /** It told another tip than before. */
  status: [Peer]
}

/** A connection that came to nothing, and why. */
export interface RefusedPeer {
  /** Unix milliseconds. */
  readonly time: number
  /** The other side: `host:port` where this node dialled, else the host. */
  readonly address: string
  /** Who refused. */
  readonly by: 'us' | 'them'
  readonly code: Code
  readonly reason: string
}

export interface ConnectionsOptions extends Pick<Env, 'clock' | 'timers' | 'log'> {
  /** The own 32-byte peer key. */
  readonly publicKey: Uint8Array
  readonly common: Common
  /** Peers that may connect. */
  readonly inbound: number
  readonly bans: Bans
  readonly points: Points
  readonly events: EventEmitter<PeersEvents>
  ownStatus(): Status
  /** At how many places of a host the node was told to look for others: there is always room for so many from there. */
  expected(host: string): number
}

/** A connection before or in its handshake. */
interface Arrival {
  cancel: () => void
  /** Resolves when it is a peer or gone. */
  readonly settled: Promise<void>
  settle(): void
}

/** All connections: who may have one, the handshake, and what broken rules come to. */
export class Connections implements PeerJudge {
  readonly refusals: RefusedPeer[] = []
  readonly #options: ConnectionsOptions
  readonly #arrivals = new Map<Link, Arrival>()
  readonly #peers = new Map<Link, ConnectedPeer>()
  /** Those whose other side was told that it is not wanted. */
  readonly #leaving = new WeakSet<Link>()

  constructor(options: ConnectionsOptions) {
    this.#options = options
  }

  now(): number {
    return this.#options.clock.now()
  }

  /** Those past the handshake. */
  all(): readonly ConnectedPeer[] {
    return [...this.#peers.values()].filter(({ closed }) => !closed)
  }

  peerOf(link: Link): ConnectedPeer | undefined {
    return this.#peers.get(link)
  }

  ofKey(publicKey: Uint8Array): ConnectedPeer | undefined {
    return this.all().find(({ link }) => equalBytes(link.publicKey, publicKey))
  }

  /** See {@link LinkOwner.admits}. */
  admits({ host, inbound, publicKey }: Parameters<LinkOwner['admits']>[0]): boolean {
    const { bans, publicKey: own } = this.#options
    if (publicKey !== undefined && equalBytes(publicKey, own)) return false
    if (bans.find(publicKey, host) !== undefined) return false
    return !inbound || this.#roomFor(host, 1)
  }

  connected(link: Link): void {
    const { bans, timers } = this.#options
    const arrival = newArrival()
    this.#arrivals.set(link, arrival)
    arrival.cancel = timers.after(handshakeTimeout, () => link.close())
    const banned = bans.find(undefined, link.host) !== undefined
    if (banned || (link.inbound && !this.#roomFor(link.host, 0))) link.close()
  }

  disconnected(link: Link): void {
    this.#settle(link)
    const peer = this.#peers.get(link)
    if (peer === undefined) return
    this.#peers.delete(link)
    const { log, events } = this.#options
    log.info({ peer: peer.name, reason: peer.closeReason ?? 'closed by the other side' }, 'a peer is gone')
    events.emit('left', peer)
  }

  /** The peer behind a connection, as soon as the handshake is over; undefined for none. */
  async arrived(link: Link): Promise<ConnectedPeer | undefined> {
    // Who dialled may be asked before the answer to its own question is here.
    if (!link.inbound) await this.#arrivals.get(link)?.settled
    return this.#peers.get(link)
  }

  /** The handshake of the side that dialled. Rejects with a RuleError that says who refused, or a LinkError. */
  async open(link: Link): Promise<ConnectedPeer> {
    try {
      const answer = await this.#ask(link)
      const peer = this.#admit(link, answer.status, answer.refusal)
      if (peer.closed) throw new LinkError('closed', `${link.peer} closed the connection`)
      return peer
    } catch (error) {
      link.close()
      throw error
    }
  }

  /** What is answered to a status, before the handshake and after it. */
  answerStatus(link: Link, status: Status): StatusAnswer {
    if (this.#leaving.has(link)) throw new LinkError('refused', 'it was told that it is not wanted')
    const own = this.#options.ownStatus()
    try {
      const peer = this.#peers.get(link)
      if (peer === undefined) this.#admit(link, status, undefined).toldTip = own.tipHash
      else this.#learn(peer, status, own)
      return { status: own, refusal: undefined }
    } catch (error) {
      if (!(error instanceof RuleError)) throw error
      this.#closeSoon(link)
      return { status: own, refusal: error.code as Refusal }
    }
  }

  /** Asks a peer for its status, and so tells it the own one. */
  async refresh(peer: ConnectedPeer): Promise<void> {
    const own = this.#options.ownStatus()
    peer.askedAt = this.now()
    peer.toldTip = own.tipHash
    peer.refreshing = true
    try {
      const { status, refusal } = await peer.ask(statusExchange, own)
      this.#learn(peer, status, own)
      if (refusal !== undefined) throw this.#refused(peer.link, refusal)
    } catch (error) {
      // Nobody there, or too late: the silence is counted elsewhere.
      if (error instanceof RuleError) peer.close(error.message)
      else if (!(error instanceof LinkError)) throw error
    } finally {
      peer.refreshing = false
    }
  }

  judge(peer: ConnectedPeer, code: Code, detail = codes[code].meaning): void {
    const penalty = code === 'peer-slow' ? lateAnswer : codes[code].penalty
    if (penalty === 0 || peer.closed) return
    const { log, points } = this.#options
    log.debug({ peer: peer.name, code, detail, penalty }, 'a peer broke a rule')
    if (code === 'peer-slow') {
      peer.slowness += penalty
      if (peer.slowness >= banPoints) peer.close('it answers too late')
    } else if (points.add(peer.link.publicKey, penalty) >= banPoints) {
      points.forget(peer.link.publicKey)
      this.banPeer(peer, this.now() + banDuration, `${code}: ${detail}`)
    }
  }

  /** Bans the key and the host of a peer, and closes what connections they have. */
  banPeer({ link }: Peer, until: number, reason: string): void {
    const { bans, log } = this.#options
    log.warn({ peer: link.peer, host: link.host, reason }, 'a peer is banned')
    void bans.add('key', toHex(link.publicKey), until, reason)
    void bans.add('host', link.host, until, reason)
    this.closeBanned()
  }

  /** Closes the connections of those who are banned. */
  closeBanned(): void {
    const { bans } = this.#options
    for (const peer of this.all()) {
      const ban = bans.find(peer.link.publicKey, peer.link.host)
      if (ban !== undefined) peer.close(`banned: ${ban.reason}`)
    }
  }

  closing(peer: ConnectedPeer, reason: string): void {
    this.#options.log.debug({ peer: peer.name, reason }, 'closing the connection to a peer')
  }

  /** Closes everything. */
  close(): void {
    for (const peer of this.all()) peer.close('this node stops')
    for (const link of [...this.#arrivals.keys()]) {
      link.close()
      this.#settle(link)
    }
  }

  async #ask(link: Link): Promise<StatusAnswer> {
    const { protocol, question, answer } = statusExchange
    return answer.decode(await link.request(protocol, question.encode(this.#options.ownStatus())))
  }

  /** Makes a peer of a connection whose other side told its status, or throws why not. */
  #admit(link: Link, status: Status, refusal: Refusal | undefined): ConnectedPeer {
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
    this.ofKey(link.publicKey)?.close('there is a newer connection to it')
    const peer = new ConnectedPeer(link, status, this, addressesTaken)
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
    const other = this.ofKey(link.publicKey)
    if (other !== undefined && other.link.inbound !== link.inbound && !this.#preferred(link)) {
      throw new RuleError('peer-self', 'there is a connection to it already')
    }
    if (!link.inbound) return
    const peers = this.all().filter((peer) => peer.link.inbound && peer !== other)
    const taken = peers.map((peer) => peer.link)
    if (taken.length < inbound || this.#isExpected(link.host, taken, 1)) return
    throw new RuleError('peer-crowded', `it takes ${inbound} connections at most`)
  }

  /** Of two connections that both sides opened at the same time, the one whose opener has the smaller key stays. */
  #preferred(link: Link): boolean {
    return compareBytes(link.publicKey, this.#options.publicKey) < 0 === link.inbound
  }

  #learn(peer: ConnectedPeer, status: Status, own: Status): void {
    try {
      checkStatus(this.#options.common, status)
    } catch (error) {
      if (error instanceof RuleError) this.#remember(peer.link, 'us', error.code, error.message)
      throw error
    }
    const moved = !equalBytes(status.tipHash, peer.status.tipHash)
    peer.learn(status)
    peer.toldTip = own.tipHash
    if (moved) this.#options.events.emit('status', peer)
  }

  #refused(link: Link, code: Refusal): RuleError {
    const reason = `the other side refused: ${codes[code].meaning}`
    this.#remember(link, 'them', code, reason)
    return new RuleError(code, reason)
  }

  #remember(link: Link, by: RefusedPeer['by'], code: Code, reason: string): void {
    // The port of one that came in is another each time.
    const address = link.inbound ? plainHost(link.host) : endpointText(link)
    const time = this.now()
    const again = this.refusals.some(
      (one) => one.address === address && one.code === code && time - one.time < quietFor,
    )
    const fields = { peer: link.peer, address, by, code, reason }
    // Who was a peer until now goes because of a change that whoever runs the node should know of.
    const level = this.#peers.has(link) ? 'warn' : 'info'
    this.#options.log[again ? 'debug' : level](fields, 'no connection to a peer')
    this.refusals.push({ time, address, by, code, reason })
    if (this.refusals.length > refusalsKept) this.refusals.shift()
  }

  /** Closes a connection when the other side had time to read why. */
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

  /** Whether so many more connections from a host may come in. */
  #roomFor(host: string, more: number): boolean {
    const links = [...this.#arrivals.keys(), ...this.#peers.keys()].filter((link) => link.inbound && !link.closed)
    const full = links.length + more > this.#options.inbound + inboundSlack
    if (full && !this.#isExpected(host, links, more)) return false
    const ofSite = links.filter((link) => siteOf(link.host) === siteOf(host))
    return reachOf(plainHost(host)) !== 'world' || ofSite.length + more <= inboundPerHost
  }

  /** Whether a host, with so many more connections, has no more than those that the owner named there. */
  #isExpected(host: string, taken: readonly Link[], more: number): boolean {
    const ofHost = taken.filter((link) => plainHost(link.host) === plainHost(host))
    return ofHost.length + more <= this.#options.expected(host)
  }
}

function newArrival(): Arrival {
  let settle = () => {}
  const settled = new Promise<void>((resolve) => (settle = resolve))
  return { cancel: () => {}, settled, settle }
}

function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z')
}
