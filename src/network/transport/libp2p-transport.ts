/**
 * Carries requests and gossip over authenticated connections; the only directory that imports libp2p.
 *
 *   connection -> #gater: allowsConnection, Handshakes -> #opened -> Libp2pLink    -> LinkHandler.connected
 *   request    -> RequestServer.serve, Frames                                      -> LinkHandler.answer -> frame back
 *   gossip     -> Gossip: budget, size                                             -> LinkHandler.onGossip -> relayed or not
 *   dial       -> dialTargetsOf -> #dial                                           -> Link
 *   Link.request -> RequestClient -> frame -> answer; broadcast -> Gossip.publish
 *
 * Imports network/link, network/address, errors, primitives, runtime; used by network/open-transport, and node for its types.
 * - One link per key; of two dialled at once both ends keep the same one.
 * - A ban is asked for before work: by address before the handshake, by key before the first message.
 * - Frames are bounded before memory is allocated.
 */
import { ed25519 } from '@noble/curves/ed25519.js'
import { compareBytes, displayHash } from '../../base/primitives/bytes.js'
import { defined } from '../../base/primitives/defined.js'
import { portInUse } from '../../base/runtime/bind-port.js'
import { type Link, LinkError, type LinkHandler, newerConnection, type Protocol, type TopicInfo } from '../link.js'
import { multiaddrText, parseDialAddress, type DialTarget, dialTargetOf, dialTargetsOf } from './dial-target.js'
import { Gossip, type GossipService } from './gossip.js'
import { Handshakes } from './handshakes.js'
import { bannedHere, dialFailure, isPortInUse, ownAddress } from './libp2p-failures.js'
import { Libp2pLink } from './libp2p-link.js'
import { type Connection, createLibp2pNode, keyOfPeer, type Libp2pNode, multiaddr, type PeerId } from './libp2p-node.js'
import { listenPlaces } from './listen.js'
import { stopWithTimers } from './patches/stop-timers.js'
import { RequestServer } from './request-server.js'
import { type TransportLimits, transportLimits } from './transport-limits.js'
import type { NodeTransport, TransportOptions } from './transport-options.js'

/** State of a started transport. */
interface Running {
  readonly node: Libp2pNode
  readonly owner: LinkHandler
  readonly gossip: Gossip
}

export class Libp2pTransport implements NodeTransport {
  readonly #options: TransportOptions
  readonly #limits: TransportLimits
  readonly #publicKey: Uint8Array
  readonly #prefix: string
  readonly #handshakes: Handshakes
  /** By connection id. */
  readonly #links = new Map<string, Libp2pLink>()
  /** The only link to each peer, by its name. */
  readonly #byPeer = new Map<string, Libp2pLink>()
  /** Pending dials by address text. */
  readonly #dials = new Map<string, Promise<Link>>()
  /** Peer name proved during a pending dial, by multiaddr. */
  readonly #proved = new Map<string, string>()
  /** Peers with a pending outbound connection that have proved their key. */
  readonly #opening = new Set<string>()
  /** Disconnected peers, to be deleted from the peer store. */
  readonly #departed = new Map<string, PeerId>()
  #running: Running | undefined
  #cancelRounds: (() => void) | undefined
  #closed = false
  #port = 0
  #peer = ''
  #addresses: readonly string[] = []

  private constructor(options: TransportOptions) {
    this.#options = options
    this.#limits = { ...transportLimits, ...options.limits }
    this.#publicKey = ed25519.getPublicKey(options.secretKey)
    this.#prefix = displayHash(options.genesis).slice(0, 8)
    this.#handshakes = new Handshakes(this.#limits)
  }

  static open(options: TransportOptions): Libp2pTransport {
    return new Libp2pTransport(options)
  }

  get port(): number {
    return this.#port
  }

  get peer(): string {
    return this.#peer
  }

  get addresses(): readonly string[] {
    return this.#addresses
  }

  async start(owner: LinkHandler): Promise<void> {
    const { hosts, port, secretKey, topics, env, mdns } = this.#options
    const listen = port === undefined ? { port: 0, places: [] } : await listenPlaces({ hosts, port })
    const topicsById = new Map(topics.map((topic) => [this.#topicId(topic), topic]))
    const node = await createLibp2pNode({
      secretKey,
      listen: listen.places,
      topics: [...topicsById.keys()],
      limits: this.#limits,
      clock: env.clock,
      gater: this.#gater(owner),
      discovery: mdns === true ? this.#discovery(owner) : undefined,
    })
    const gossip = new Gossip(node.services.gossip as typeof node.services.gossip & GossipService, {
      owner,
      topics: topicsById,
      log: env.log,
      linkOf: (peer) => this.#byPeer.get(peer),
    })
    this.#peer = node.peerId.toString()
    this.#running = { node, owner, gossip }
    node.addEventListener('connection:open', ({ detail }) => this.#opened(detail))
    node.addEventListener('connection:close', ({ detail }) => this.#ended(detail))
    await this.#answer(node, new RequestServer(owner, env.log, this.#limits, env.clock))
    try {
      await node.start()
    } catch (error) {
      this.#running = undefined
      // Another program took the port since it was found free.
      throw isPortInUse(error) ? portInUse({ hosts, port: listen.port }) : error
    }
    gossip.subscribe()
    this.#port = listen.port
    this.#addresses = node.getMultiaddrs().map((address) => address.toString())
    this.#nextRound()
  }

  #discovery(owner: LinkHandler): NonNullable<Parameters<typeof createLibp2pNode>[0]['discovery']> {
    let isTold = false
    return {
      tag: `_didledger-${this.#prefix}._udp.local`,
      found: (address) => owner.onAddress(address),
      failed: ({ message }) => {
        if (isTold) return
        isTold = true
        const remedy = 'is there a route for multicast? --peer names nodes without it'
        this.#options.env.log.warn({ reason: message }, `multicast DNS finds no nodes here: ${remedy}`)
      },
    }
  }

  dial(address: string): Promise<Link> {
    const underWay = this.#dials.get(address)
    if (underWay !== undefined) return underWay
    const dial = this.#dial(address).finally(() => this.#dials.delete(address))
    this.#dials.set(address, dial)
    return dial
  }

  broadcast(topic: TopicInfo, message: Uint8Array): void {
    if (message.length > topic.size) throw new RangeError(`a message of ${message.length} bytes on ${topic.name}`)
    this.#running?.gossip.publish(this.#topicId(topic), message)
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#cancelRounds?.()
    this.#handshakes.close()
    for (const link of this.#byPeer.values()) link.close()
    await this.#stop()
    for (const link of [...this.#byPeer.values()]) this.#left(link)
  }

  /** Stops libp2p; waits at most `stopTime`. */
  #stop(): Promise<void> {
    const { timers, log } = this.#options.env
    return new Promise((resolve) => {
      const cancel = timers.after(this.#limits.stopTime, resolve)
      const node = this.#running?.node
      Promise.resolve(node && stopWithTimers(node))
        .catch((error: unknown) => log.debug({ error: (error as Error).message }, 'libp2p did not stop in order'))
        .finally(() => {
          cancel()
          resolve()
        })
    })
  }

  #topicId({ name, version }: TopicInfo): string {
    return `/didledger/${this.#prefix}/${name}/${version}`
  }

  #protocolId({ name, version, ofChain }: Protocol): string {
    return ofChain ? `/didledger/${this.#prefix}/${name}/${version}` : `/didledger/${name}/${version}`
  }

  async #answer(node: Libp2pNode, answers: RequestServer): Promise<void> {
    const most = this.#limits.protocolStreams
    for (const protocol of this.#options.protocols) {
      await node.handle(
        this.#protocolId(protocol),
        async (stream, connection) => {
          const link = this.#links.get(connection.id)
          if (link === undefined || link.closed) stream.abort(new Error('the connection is not wanted'))
          else await answers.serve(link, protocol, stream)
        },
        { maxInboundStreams: most, maxOutboundStreams: most },
      )
    }
  }

  #gater(owner: LinkHandler): Parameters<typeof createLibp2pNode>[0]['gater'] {
    const admits = (peer: PeerId, host: string, inbound: boolean): boolean => {
      const publicKey = keyOfPeer(peer)
      return publicKey !== undefined && !this.#closed && owner.allowsConnection({ host, inbound, publicKey })
    }
    return {
      denyInboundConnection: (connection) => {
        const { host } = dialTargetOf(connection.remoteAddr.getComponents())
        if (this.#closed || !owner.allowsConnection({ host, inbound: true })) return true
        this.#handshakes.begin(host, connection)
        return false
      },
      denyInboundEncryptedConnection: (peer, connection) =>
        !admits(peer, dialTargetOf(connection.remoteAddr.getComponents()).host, true),
      denyInboundUpgradedConnection: (_peer, connection) => {
        this.#handshakes.end(connection)
        return false
      },
      denyOutboundEncryptedConnection: (peer, connection) => {
        const name = peer.toString()
        const { host, port } = dialTargetOf(connection.remoteAddr.getComponents())
        this.#proved.set(multiaddrText({ host, port }), name)
        if (this.#linkTo(name) !== undefined || this.#opening.has(name) || !admits(peer, host, false)) return true
        this.#opening.add(name)
        connection.addEventListener('close', () => this.#opening.delete(name))
        return false
      },
    }
  }

  #linkTo(peer: string): Libp2pLink | undefined {
    const link = this.#byPeer.get(peer)
    return link === undefined || link.closed ? undefined : link
  }

  async #dial(address: string): Promise<Link> {
    const { port, host, family, peer } = parseDialAddress(address)
    const running = this.#running
    if (running === undefined || this.#closed) throw new LinkError('closed', 'the network is closed')
    if (peer === this.#peer) throw ownAddress(address)
    const existing = peer === undefined ? undefined : this.#linkTo(peer)
    if (existing !== undefined) return existing
    const targets = await dialTargetsOf({ host, port, family }, this.#limits.dialAddresses)
    const publicKey = peer === undefined ? undefined : keyOfPeer(peer)
    if (peer !== undefined && publicKey === undefined) throw new LinkError('unreachable', `${peer} names no node`)
    const allowed = targets.filter((target) =>
      running.owner.allowsConnection({
        host: target.host,
        inbound: false,
        ...defined({ publicKey }),
      }),
    )
    if (allowed.length === 0) throw bannedHere(address)
    const multiaddrs = allowed.map(multiaddrText)
    try {
      const named = multiaddrs.map((text) => multiaddr(peer === undefined ? text : `${text}/p2p/${peer}`))
      const connection = await running.node.dial(named, { force: true })
      const link = this.#links.get(connection.id) ?? (await this.#settled(multiaddrs))
      if (link === undefined || link.closed) throw new LinkError('refused', `${address} closed the connection`)
      return link
    } catch (error) {
      if (this.#closed) throw new LinkError('closed', 'the network is closed')
      if (allowed.some((target) => this.#isRefused(target, running.owner))) throw bannedHere(address)
      const link = await this.#settled(multiaddrs)
      if (link !== undefined) return link
      throw error instanceof LinkError ? error : dialFailure(address, error as Error)
    } finally {
      for (const text of multiaddrs) this.#proved.delete(text)
    }
  }

  /** Whether the handler refuses the key proved at this target. */
  #isRefused({ host, port }: DialTarget, owner: LinkHandler): boolean {
    const name = this.#proved.get(multiaddrText({ host, port }))
    const publicKey = name === undefined ? undefined : keyOfPeer(name)
    return publicKey !== undefined && !owner.allowsConnection({ host, inbound: false, publicKey })
  }

  /** The link to the node proved at one of these multiaddrs, if it exists or opens within `settleTime`. */
  async #settled(multiaddrs: readonly string[]): Promise<Libp2pLink | undefined> {
    const name = multiaddrs.map((text) => this.#proved.get(text)).find((peer) => peer !== undefined)
    if (name === undefined) return undefined
    const { timers } = this.#options.env
    const step = this.#limits.settleTime / 20
    for (let waited = 0; waited < this.#limits.settleTime && this.#linkTo(name) === undefined; waited += step) {
      await new Promise<void>((resolve) => timers.after(step, resolve))
    }
    return this.#linkTo(name)
  }

  #opened(connection: Connection): void {
    const publicKey = keyOfPeer(connection.remotePeer)
    if (publicKey === undefined || this.#closed || this.#running === undefined) {
      connection.abort(new Error('not wanted'))
      return
    }
    const name = connection.remotePeer.toString()
    if (connection.direction === 'outbound') this.#opening.delete(name)
    const other = this.#linkTo(name)
    if (other !== undefined && this.#staysBefore(other, connection)) {
      connection.abort(new Error('there is another connection'))
      return
    }
    if (other !== undefined) {
      this.#left(other, newerConnection)
      other.connection.abort(new Error('there is another connection'))
    }
    const link = new Libp2pLink(connection, publicKey, {
      clock: this.#options.env.clock,
      timers: this.#options.env.timers,
      limits: this.#limits,
      idOf: (protocol) => this.#protocolId(protocol),
    })
    this.#links.set(connection.id, link)
    this.#byPeer.set(name, link)
    this.#departed.delete(name)
    this.#identify(link)
    this.#running.owner.connected(link)
  }

  /**
   * Whether to keep a link rather than a newer connection to the same node. The newer one wins, since the peer may have
   * lost the older. Simultaneous dials → the connection opened by the lower key, so that both nodes choose alike.
   */
  #staysBefore(link: Libp2pLink, connection: Connection): boolean {
    const apart = connection.timeline.open - link.connection.timeline.open
    const inbound = connection.direction === 'inbound'
    if (apart > this.#limits.simultaneous || inbound === link.inbound) return false
    const ownIsLower = compareBytes(this.#publicKey, link.publicKey) < 0
    return link.inbound !== ownIsLower
  }

  #ended(connection: Connection): void {
    this.#departed.set(connection.remotePeer.toString(), connection.remotePeer)
    const link = this.#links.get(connection.id)
    if (link !== undefined) this.#left(link)
  }

  #left(link: Libp2pLink, reason?: string): void {
    if (!this.#links.delete(link.connection.id)) return
    if (this.#byPeer.get(link.peer) === link) this.#byPeer.delete(link.peer)
    link.ended()
    this.#running?.owner.disconnected(link, reason)
  }

  /** Runs identify, which shows Gossipsub that the peer supports gossip. */
  #identify(link: Libp2pLink): void {
    this.#running?.node.services.identify.identify(link.connection).catch((error: unknown) => {
      this.#options.env.log.debug({ peer: link.peer, error: (error as Error).message }, 'not identified')
    })
  }

  /** Every `roundInterval`: restores gossip to peers without a stream, deletes disconnected peers. */
  #nextRound(): void {
    const { timers, log } = this.#options.env
    this.#cancelRounds = timers.after(this.#limits.roundInterval, () => {
      const running = this.#running
      if (running === undefined || this.#closed) return
      running.gossip.sweep()
      for (const link of this.#byPeer.values()) if (!running.gossip.reaches(link.peer)) this.#identify(link)
      for (const [name, peer] of this.#departed) {
        if (this.#byPeer.has(name)) continue
        running.node.peerStore.delete(peer).catch((error: unknown) => log.debug({ error }, 'peer not forgotten'))
      }
      this.#departed.clear()
      this.#nextRound()
    })
  }
}
