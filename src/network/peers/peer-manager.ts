/**
 * Owns the transport and the peers: which address to dial, which links to keep, which handler gets a message.
 *
 *   address book -> Dialer -> transport.dial -> PeerConnections.open     handshake: exchange of statuses
 *   inbound link -> allowsConnection -> connected -> answerStatus        bans, room for one more of its site
 *   request      -> answer   -> allowsMessage -> handler of `serve`  -> bytes back
 *   gossip       -> onGossip -> handler of `listen`                  -> accept, ignore, reject
 *   RuleError    -> #penalise -> MisbehaviourScores -> close or ban
 *
 * Imports network/{link,penalties,address,wire}, chain, errors, primitives, runtime, storage; used by network/{fetch,relay},
 * network, api, node, library, console.
 * - No message reaches a handler before the handshake is done.
 * - One timer of a second drives dials, statuses, address requests and the silence limit.
 * - Own failures (any error but RuleError) cost the peer nothing.
 */
import { EventEmitter } from 'node:events'
import type { Chain } from '../../ledger/chain/chain.js'
import type { Header } from '../../base/primitives/header.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { toHex } from '../../base/primitives/bytes.js'
import type { Env } from '../../base/runtime/env.js'
import { packageVersion } from '../../base/runtime/package-files.js'
import { parseEndpoint, plainHost, reachOf, siteOf } from '../address/ip-address.js'
import {
  type Link,
  LinkError,
  type LinkHandler,
  type Protocol,
  type TopicInfo,
  type Transport,
  type GossipResult,
} from '../link.js'
import { penaltyOf } from '../penalties.js'
import { addressesExchange, type PeerAddress } from '../wire/addresses-message.js'
import type { Exchange, GossipTopic } from '../wire/exchange.js'
import { networkVersion, servicesOf, type Status, statusExchange } from '../wire/status-message.js'
import { AddressBook } from './address-book.js'
import { addressesFor, listensAt, staleAfter, takeAddresses } from './address-exchange.js'
import { type Ban, Bans, isBannableHost } from './bans.js'
import { Dialer } from './dialer.js'
import { inboundPerHost } from './inbound-places.js'
import { MisbehaviourScores } from './misbehaviour-scores.js'
import { type Neighbor, neighborOf } from './neighbor.js'
import { banDuration, PeerConnections, type PeersEvents, type RefusedPeer } from './peer-connections.js'
import { type PeerRecord, type Peer, heartbeat } from './peer-record.js'
import { PeerRows } from './peer-rows.js'
import type { PeerSettings } from './peer-settings.js'

/** Milliseconds between two address requests. */
const addressesInterval = 600_000
/** Milliseconds between two writes of the address book. */
const flushInterval = 60_000

export type { Ban } from './bans.js'
export type { PeersEvents, RefusedPeer } from './peer-connections.js'
export type { Neighbor } from './neighbor.js'

export interface PeerManagerOptions extends Env {
  readonly transport: Transport
  /** The own 32-byte peer key. */
  readonly publicKey: Uint8Array
  readonly chain: Pick<
    Chain,
    'spec' | 'events' | 'database' | 'prunes' | 'prunedHeight' | 'prunesDocuments' | 'supersededHeight'
  > & {
    readonly joinedHeight?: number
    readonly genesis: { readonly header: Pick<Header, 'hash'> }
    readonly tip: { readonly header: Pick<Header, 'height' | 'hash'>; readonly chainWork: bigint }
  }
  readonly settings: PeerSettings
}

type Answerer = (peer: PeerRecord, body: Uint8Array) => Promise<Uint8Array>
type Listener = (peer: PeerRecord, message: Uint8Array) => Promise<GossipResult>

/** The peers of this node. Owns the transport: starts and closes it, and dispatches its requests and gossip. */
export class PeerManager implements LinkHandler {
  readonly events = new EventEmitter<PeersEvents>()
  readonly #options: PeerManagerOptions
  readonly #agent = `didledger/${packageVersion()}`
  readonly #answerers = new Map<string, Answerer>()
  readonly #listeners = new Map<string, Listener>()
  readonly #rows: PeerRows
  readonly #bans: Bans
  readonly #book: AddressBook
  readonly #connections: PeerConnections
  readonly #dialer: Dialer
  /** Peers that owe an answer with addresses. */
  #asking = 0
  #showsChain = (_isConfigured: () => boolean) => true
  #cancel = () => {}
  #askedAddresses = -Infinity
  #flushed = -Infinity
  #closing: Promise<void> | undefined

  private constructor(options: PeerManagerOptions, rows: PeerRows, bans: Bans, book: AddressBook) {
    const { chain, clock, timers, random, log, publicKey, transport, settings } = options
    this.#options = options
    this.#rows = rows
    this.#bans = bans
    this.#book = book
    this.#connections = new PeerConnections({
      clock,
      timers,
      log,
      publicKey,
      common: { spec: chain.spec, genesis: chain.genesis.header.hash },
      inbound: settings.inbound,
      perHost: settings.inboundPerHost ?? inboundPerHost,
      bans,
      scores: new MisbehaviourScores(() => this.#now()),
      events: this.events,
      ownStatus: (link) => this.#ownStatus(link),
      expected: (host) => book.configuredAt(host),
      named: (link) => book.names(link.publicKey, link.host),
      namedByKey: (link) => book.namesKey(link.publicKey),
    })
    const { outbound } = settings
    const height = () => chain.tip.header.height
    const connections = this.#connections
    this.#dialer = new Dialer({ clock, random, log, transport, book, bans, connections, outbound, height })
    this.serve(addressesExchange, (peer) => Promise.resolve(this.#serveAddresses(peer)))
  }

  /** Loads bans and address book; nothing is sent or received before {@link start}. */
  static async open(options: PeerManagerOptions): Promise<PeerManager> {
    const { chain, clock, random, log, publicKey, settings } = options
    const now = () => clock.now()
    const rows = new PeerRows(chain, log)
    const bans = await Bans.open(chain.database, rows, now)
    const book = await AddressBook.open(chain.database, { rows, now, random, publicKey, staleAfter })
    for (const address of settings.peers) book.configure(address)
    return new PeerManager(options, rows, bans, book)
  }

  /** Starts to listen and to dial. `serve` and `listen` must have been called before. */
  async start(): Promise<void> {
    const { chain, transport } = this.#options
    this.events.on('joined', (peer) => this.#joined(peer as PeerRecord))
    this.events.on('left', (peer) => this.#dialer.left(peer as PeerRecord))
    await transport.start(this)
    chain.events.on('change', this.#tipMoved)
    this.#beat()
  }

  /** Closes all connections and the transport, and writes the address book. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    const { chain, transport } = this.#options
    this.#cancel()
    chain.events.off('change', this.#tipMoved)
    this.#dialer.close()
    this.#connections.close()
    await transport.close()
    await this.#book.flush()
    await this.#rows.idle()
  }

  /** Peers whose handshake is done. */
  all(): readonly Peer[] {
    return this.#connections.all()
  }

  /** Takes what the peers have said of their chains for old, and asks them; see {@link Peer.isCurrent}. */
  askAnew(slept: boolean): void {
    this.#connections.askAnew(slept)
  }

  /** Names what decides whether the own tip shows a configured peer, or another one, where the chain ends; the status tells it. */
  showing(showsChain: (isConfigured: () => boolean) => boolean): void {
    this.#showsChain = showsChain
  }

  /** Whether it dialled a peer with success before, also in an earlier run. */
  get hasMet(): boolean {
    return this.#book.hasMet
  }

  /** Whether it knows an address that it may soon be connected to, or has asked for some. */
  get seeksMore(): boolean {
    return this.#asking > 0 || this.#dialer.isBusy
  }

  /**
   * Registers the handler of an exchange. A RuleError of handler or codec adds the penalty of its code to the peer; any
   * other failure is logged without a penalty. In both cases there is no answer.
   */
  serve<Q, A>(exchange: Exchange<Q, A>, handler: (peer: Peer, question: Q) => Promise<A>): void {
    this.#answerers.set(idOf(exchange.protocol), async (peer, body) =>
      exchange.answer.encode(await handler(peer, exchange.question.decode(body))),
    )
  }

  /** Registers the handler of a gossip topic. RuleError → penalty of its code for the relaying peer; above 0 → reject. */
  listen<M>(gossipTopic: GossipTopic<M>, handler: (peer: Peer, message: M) => Promise<GossipResult>): void {
    this.#listeners.set(idOf(gossipTopic.topic), (peer, message) => handler(peer, gossipTopic.message.decode(message)))
  }

  /** Gossips a message to all peers. */
  broadcast<M>({ topic, message }: GossipTopic<M>, value: M): void {
    this.#options.transport.broadcast(topic, message.encode(value))
  }

  neighbors(): readonly Neighbor[] {
    return this.#connections.all().map(neighborOf)
  }

  /** Recently refused connections, the latest last. */
  get lastRefusals(): readonly RefusedPeer[] {
    return this.#connections.refusals
  }

  /**
   * Configures an address and dials it; retried until {@link disconnect}. Rejects with a RuleError or LinkError that gives
   * the reason; the address then stays configured only if it was before.
   */
  async connect(address: string): Promise<Peer> {
    const wasConfigured = this.#book.isConfigured(address)
    const known = this.#book.configure(address)
    try {
      return await this.#dialer.dial(known)
    } catch (error) {
      if (!wasConfigured) this.#dialer.drop(known)
      throw error
    }
  }

  /** Closes the connection to a peer and does not dial it for ten minutes; false if there is none. */
  disconnect(id: number): boolean {
    const peer = this.#connections.all().find((one) => one.id === id)
    if (peer === undefined) return false
    const known = this.#dialer.addressOf(peer)
    peer.close('asked for')
    if (known === undefined) return true
    known.configured = false
    this.#book.postpone(known)
    return true
  }

  /**
   * Bans for so many milliseconds a public key in 64 hex digits, a host, or a connected peer by id (its key and its host).
   * Rejects with `request-parameter` for hosts of this machine and of private networks, and for the own key. Resolves with
   * the bans in force for it.
   */
  async ban(subject: string, milliseconds = banDuration, reason = 'asked for'): Promise<readonly Ban[]> {
    const until = this.#now() + milliseconds
    const peer = this.#connections.all().find(({ id }) => String(id) === subject)
    const key = peer === undefined ? subject.toLowerCase() : toHex(peer.link.publicKey)
    const host = plainHost(peer?.link.host ?? subject)
    if (key === toHex(this.#options.publicKey)) throw new RuleError('request-parameter', 'that is this node itself')
    if (peer !== undefined || isKey(subject)) await this.#bans.add('key', key, until, reason)
    else if (!isBannableHost(host)) throw new RuleError('request-parameter', notBannable(subject, host))
    if (!isKey(subject) && isBannableHost(host)) await this.#bans.add('host', host, until, reason)
    this.#connections.closeBanned()
    return this.listBans().filter((ban) => ban.subject === key || ban.subject === siteOf(host))
  }

  /** Removes the ban of a key or a host; false if there is none. */
  unban(subject: string): Promise<boolean> {
    return this.#bans.remove(subject)
  }

  /** Current bans, the one that ends first at the front. */
  listBans(): readonly Ban[] {
    return this.#bans.list()
  }

  // LinkHandler: callbacks of the transport.

  allowsConnection(side: Parameters<LinkHandler['allowsConnection']>[0]): boolean {
    return this.#connections.admits(side)
  }

  connected(link: Link): void {
    this.#connections.connected(link)
  }

  disconnected(link: Link, reason?: string): void {
    this.#connections.disconnected(link, reason)
  }

  onAddress(address: string): void {
    const endpoint = parseEndpoint(address)
    if (endpoint !== undefined) this.#book.learn(endpoint, { local: true })
  }

  async answer(link: Link, protocol: Protocol, body: Uint8Array): Promise<Uint8Array> {
    if (protocol.name === statusExchange.protocol.name) return this.#answerStatus(link, body)
    const peer = await this.#connections.arrived(link)
    const answerer = this.#answerers.get(idOf(protocol))
    if (peer === undefined || answerer === undefined || !peer.allowsMessage('request', body.length)) {
      throw new LinkError('refused', `no answer to ${protocol.name}`)
    }
    try {
      return await answerer(peer, body)
    } catch (error) {
      this.#penalise(peer, protocol.name, error)
      throw error
    }
  }

  allowsGossip(link: Link, bytes: number): boolean {
    return this.#connections.peerOf(link)?.allowsMessage('gossip', bytes) ?? false
  }

  onFlood(link: Link): void {
    this.#connections
      .peerOf(link)
      ?.penalise('peer-flood', 'more frames of gossip, or entries in them, than a peer may send')
  }

  async onGossip(link: Link, topic: TopicInfo, message: Uint8Array): Promise<GossipResult> {
    const peer = this.#connections.peerOf(link)
    const listener = this.#listeners.get(idOf(topic))
    if (peer === undefined || listener === undefined) return 'ignore'
    try {
      return await listener(peer, message)
    } catch (error) {
      return this.#penalise(peer, topic.name, error) > 0 ? 'reject' : 'ignore'
    }
  }

  #answerStatus(link: Link, body: Uint8Array): Uint8Array {
    const { question, answer } = statusExchange
    const peer = this.#connections.peerOf(link)
    if (peer?.allowsMessage('request', body.length) === false) throw new LinkError('refused', 'too many questions')
    let status: Status
    try {
      status = question.decode(body)
    } catch (error) {
      if (peer === undefined) link.close()
      else this.#penalise(peer, statusExchange.protocol.name, error)
      throw error
    }
    return answer.encode(this.#connections.answerStatus(link, status))
  }

  /** Adds the penalty for a failed message of a peer, if it is a RuleError; returns the points. */
  #penalise(peer: PeerRecord, name: string, error: unknown): number {
    if (error instanceof RuleError) {
      peer.penalise(error.code, `${name}: ${error.message}`)
      return penaltyOf(error.code)
    }
    if (!(error instanceof LinkError)) {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
      this.#options.log.error({ peer: peer.name, name, error: text }, 'a message from a peer could not be handled')
    }
    return 0
  }

  #now(): number {
    return this.#options.clock.now()
  }

  #ownStatus({ publicKey, host }: Pick<Link, 'publicKey' | 'host'>): Status {
    const { chain, transport } = this.#options
    const { header, chainWork } = chain.tip
    return {
      version: networkVersion,
      genesis: chain.genesis.header.hash,
      upgrades: chain.spec.upgradesDigest(header.height),
      tipHeight: header.height,
      tipHash: header.hash,
      chainWork,
      services: servicesOf(
        chain,
        this.#showsChain(() => this.#book.names(publicKey, host)),
      ),
      relay: true,
      listenPort: transport.port,
      agent: this.#agent,
    }
  }

  readonly #tipMoved = (): void => this.#refresh()

  /** Exchanges statuses with peers that lack the new tip, or whether it shows the chain, or whose last exchange is too old. */
  #refresh(): void {
    const now = this.#now()
    for (const peer of this.#connections.all()) {
      if (peer.refreshDue(now, this.#ownStatus(peer.link))) void this.#connections.refresh(peer)
    }
  }

  #beat = (): void => {
    const now = this.#now()
    this.#bans.expire()
    for (const peer of this.#connections.all()) peer.beat()
    this.#refresh()
    this.#dialer.fill()
    if (Math.abs(now - this.#askedAddresses) >= addressesInterval) {
      this.#askedAddresses = now
      for (const peer of this.#connections.all()) if (!peer.link.inbound) void this.#askAddresses(peer)
    }
    if (Math.abs(now - this.#flushed) >= flushInterval) {
      this.#flushed = now
      void this.#book.flush()
    }
    this.#cancel = this.#options.timers.after(heartbeat, this.#beat)
  }

  #joined(peer: PeerRecord): void {
    const endpoint = listensAt(peer)
    if (!peer.link.inbound) void this.#askAddresses(peer)
    else if (endpoint !== undefined && reachOf(endpoint.host) !== undefined) {
      this.#book.learn(endpoint, { publicKey: peer.link.publicKey })
    }
  }

  async #askAddresses(peer: PeerRecord): Promise<void> {
    this.#asking++
    try {
      takeAddresses(peer, await peer.ask(addressesExchange, undefined), this.#book, this.#now())
    } catch (error) {
      if (!(error instanceof LinkError || error instanceof RuleError)) throw error
    } finally {
      this.#asking--
    }
  }

  #serveAddresses(peer: Peer): readonly PeerAddress[] {
    const requester = peer as PeerRecord
    const now = this.#now()
    return requester.servedAddresses(now, () =>
      addressesFor(requester, this.#connections.all(), this.#book, now, this.#options.random),
    )
  }
}

function idOf({ name, version }: Protocol | TopicInfo): string {
  return `${name}/${version}`
}

function isKey(text: string): boolean {
  return /^[0-9a-fA-F]{64}$/.test(text)
}

function notBannable(subject: string, host: string): string {
  const reach = reachOf(host)
  if (reach !== undefined) {
    const near = reach === 'machine' ? 'this machine' : 'private networks'
    return `addresses of ${near} are never banned; the name of a node there can be`
  }
  return `${subject.slice(0, 80)} is neither the ID of a connected node nor an IP address that a node can have`
}
