import { randomBytes } from 'node:crypto'
import {
  type Link,
  LinkError,
  type LinkHandler,
  type Protocol,
  type TopicInfo,
  type GossipResult,
} from '../../../src/network/link.js'
import { openTransport } from '../../../src/network/open-transport.js'
import type { Peer } from '../../../src/network/peers/peer-record.js'
import { serveChain } from '../../../src/network/serve-chain.js'
import type { TransportOptions, NodeTransport } from '../../../src/network/transport/transport-options.js'
import { protocols, topics } from '../../../src/network/wire/all-messages.js'
import type { Exchange, GossipTopic } from '../../../src/network/wire/exchange.js'
import { type Status, statusExchange } from '../../../src/network/wire/status-message.js'
import { toHex } from '../../../src/base/primitives/bytes.js'
import { systemEnv } from '../../../src/base/runtime/process-env.js'
import type { TestChain } from '../builders/chain.js'
import { FakePeer } from './fake-peers.js'
import { statusOf } from '../network/sync.js'

/** Peers in this process that speak the protocol over real connections, and keep as much of it as a test wants. */

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Limits of the attacker are off: defence is left to the other side. */
const unbounded: NonNullable<TransportOptions['limits']> = {
  streams: 20_000,
  protocolStreams: 20_000,
  requestsWaiting: 1_000_000,
  dialsAtOnce: 1000,
  dialsWaiting: 10_000,
}

/** An answer may be of any length. */
const boundless = protocols.map((protocol) => ({ ...protocol, answer: 2 ** 31 }))

type Answerer = (question: Uint8Array, link: Link) => Promise<Uint8Array>

/** A stream as bytes, below any frame. */
export interface RawStream {
  readonly status: string
  send(bytes: Uint8Array): boolean
  pause(): void
  abort(error: Error): void
}

/** A connection as libp2p has it. */
export interface RawConnection {
  newStream(protocol: string | readonly string[], options?: object): Promise<RawStream>
  readonly muxer: { createStream(): Promise<RawStream> }
  abort(error: Error): void
}

const opened = new Set<HostilePeer>()

export class HostilePeer implements LinkHandler {
  readonly transport: NodeTransport
  /** Status that it sends. */
  status: Status
  /** How often it was asked, by the name of the protocol. */
  readonly asked = new Map<string, number>()
  readonly links = new Set<Link>()
  /** Handler of gossip; its result is the verdict. */
  hearing: (topic: TopicInfo, message: Uint8Array, link: Link) => GossipResult = () => 'ignore'
  readonly #answerers = new Map<string, Answerer>()

  private constructor(transport: NodeTransport, status: Status) {
    this.transport = transport
    this.status = status
  }

  /** One that listens where `port` is 0, with a key of its own. */
  static async open(status: Status, options: { port?: number; secretKey?: Uint8Array } = {}): Promise<HostilePeer> {
    const { port, secretKey = randomBytes(32) } = options
    const transport = await openTransport({
      secretKey,
      genesis: status.genesis,
      protocols: boundless,
      topics,
      hosts: ['127.0.0.1'],
      port,
      env: systemEnv(quiet),
      limits: unbounded,
    })
    const peer = new HostilePeer(transport, status)
    await transport.start(peer)
    peer.status = { ...status, listenPort: transport.port }
    opened.add(peer)
    return peer
  }

  /** One that answers from a chain as a node does, unless told otherwise afterwards. */
  static async of(source: TestChain, options: { port?: number; status?: Partial<Status> } = {}): Promise<HostilePeer> {
    const { status = {}, ...rest } = options
    const peer = await HostilePeer.open({ ...statusOf(source), ...status }, rest)
    serveChain(peer, { chain: source.chain, mempool: source.mempool })
    return peer
  }

  /** Ends all of them, but for one that is needed. */
  static async closeAll(needed?: HostilePeer): Promise<void> {
    await Promise.all([...opened].filter((peer) => peer !== needed).map((peer) => peer.close()))
  }

  /** Connects and shakes hands. Rejects with why it was refused, or a LinkError. */
  async join(address: string): Promise<Link> {
    const link = await this.transport.dial(address)
    const { refusal } = await this.ask(link, statusExchange, this.status)
    if (refusal !== undefined) throw new Error(refusal)
    return link
  }

  async ask<Q, A>(link: Link, { protocol, question, answer }: Exchange<Q, A>, value: Q): Promise<A> {
    return answer.decode(await link.request(protocol, question.encode(value)))
  }

  /** Answers otherwise than by the chain, with a value or with any bytes. */
  answering<Q, A>({ protocol, question, answer }: Exchange<Q, A>, give: (asked: Q) => Promise<A> | A): this {
    return this.answeringBytes(protocol, async (bytes) => answer.encode(await give(question.decode(bytes))))
  }

  answeringBytes({ name }: Protocol, answerer: Answerer): this {
    this.#answerers.set(name, answerer)
    return this
  }

  /** See `Peers.serve`: what lets a chain be served. */
  serve<Q, A>(exchange: Exchange<Q, A>, handler: (peer: Peer, question: Q) => Promise<A>): void {
    this.answering(exchange, (question) => handler(new FakePeer('a'), question))
  }

  tell<M>({ topic, message }: GossipTopic<M>, value: M): void {
    this.transport.broadcast(topic, message.encode(value))
  }

  /** Tells bytes that need not be a message. */
  tellBytes({ topic }: GossipTopic<unknown>, bytes: Uint8Array): void {
    this.transport.broadcast(topic, bytes)
  }

  /** The connection of a link as libp2p has it. */
  static connection(link: Link): RawConnection {
    return Reflect.get(link, 'connection')
  }

  protocolId({ name, version, ofChain }: Protocol): string {
    const prefix = toHex(Uint8Array.from(this.status.genesis).reverse()).slice(0, 8)
    return ofChain ? `/didledger/${prefix}/${name}/${version}` : `/didledger/${name}/${version}`
  }

  async close(): Promise<void> {
    opened.delete(this)
    await this.transport.close()
  }

  allowsConnection(): boolean {
    return true
  }

  connected(link: Link): void {
    this.links.add(link)
  }

  disconnected(link: Link): void {
    this.links.delete(link)
  }

  async answer(link: Link, protocol: Protocol, body: Uint8Array): Promise<Uint8Array> {
    const { name } = protocol
    this.asked.set(name, (this.asked.get(name) ?? 0) + 1)
    const answerer = this.#answerers.get(name)
    if (answerer !== undefined) return answerer(body, link)
    if (name !== statusExchange.protocol.name) throw new LinkError('unsupported', name)
    return statusExchange.answer.encode({ status: this.status, refusal: undefined })
  }

  allowsGossip(): boolean {
    return true
  }

  onFlood(): void {}

  onGossip(link: Link, topic: TopicInfo, message: Uint8Array): Promise<GossipResult> {
    return Promise.resolve(this.hearing(topic, message, link))
  }

  onAddress(): void {}
}
