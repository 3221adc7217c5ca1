import { EventEmitter } from 'node:events'
import { RuleError } from '../../../src/base/errors/rule-error.js'
import { LinkError, type GossipResult } from '../../../src/network/link.js'
import type { PeerManager, PeersEvents } from '../../../src/network/peers/peer-manager.js'
import type { Peer } from '../../../src/network/peers/peer-record.js'
import type { Exchange, GossipTopic } from '../../../src/network/wire/exchange.js'
import type { Status } from '../../../src/network/wire/status-message.js'
import { mapKey } from '../../../src/base/primitives/bytes.js'
import { sha256 } from '../../../src/base/primitives/hash.js'
import { idleLink } from './stubs.js'

type Handler = (peer: Peer, bytes: Uint8Array) => Promise<Uint8Array>
type Listener = (peer: Peer, bytes: Uint8Array) => Promise<GossipResult>

/** Other side of a connection. */
interface OtherSide {
  answer(protocol: string, question: Uint8Array): Promise<Uint8Array>
  hear(topic: string, message: Uint8Array): void
}

let count = 0

/** A peer whose other side is a node of this process, or what a test makes of it. It notes what it is charged for. */
export class FakePeer implements Peer {
  readonly id = ++count
  readonly name: string
  readonly link = idleLink
  readonly status = { tipHeight: 0 } as Status
  readonly penalties: string[] = []
  /** Names of the protocols it was asked on. */
  readonly questions: string[] = []
  other!: OtherSide
  readonly isCurrent = true
  closed = false

  constructor(name: string) {
    this.name = name
  }

  async ask<Q, A>({ protocol, question, answer }: Exchange<Q, A>, value: Q): Promise<A> {
    if (this.closed) throw new LinkError('closed', 'the connection is closed')
    const bytes = question.encode(value)
    if (bytes.length > protocol.request) throw new Error(`${bytes.length} bytes in a ${protocol.name} question`)
    this.questions.push(protocol.name)
    const answered = await this.other.answer(protocol.name, bytes)
    if (answered.length > protocol.answer) throw new Error(`${answered.length} bytes in a ${protocol.name} answer`)
    return answer.decode(answered)
  }

  penalise(code: string): void {
    this.penalties.push(code)
  }

  delivered(): void {}

  close(): void {
    this.closed = true
  }
}

/** The peers of a node without a transport. Gossip passes equal bytes on only once, as the real one does. */
export class FakePeers implements Pick<PeerManager, 'all' | 'askAnew' | 'events' | 'serve' | 'listen' | 'broadcast'> {
  readonly events = new EventEmitter<PeersEvents>()
  readonly name: string
  /** Gossiped messages that went out over any connection, by topic. */
  readonly told: string[] = []
  readonly #peers: FakePeer[] = []
  readonly #handlers = new Map<string, Handler>()
  readonly #listeners = new Map<string, Listener>()
  readonly #seen = new Set<string>()
  /** Questions and messages of others that are being handled. */
  readonly #handled = new Set<Promise<unknown>>()
  #closed = false

  constructor(name: string) {
    this.name = name
  }

  /** Takes nothing more, and resolves when what was taken is handled: what handles it may be closed then. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled(this.#handled)
  }

  all(): readonly FakePeer[] {
    return this.#peers
  }

  /** Does nothing: these peers are current at all times. */
  askAnew(): void {}

  serve<Q, A>({ protocol, question, answer }: Exchange<Q, A>, handler: (peer: Peer, question: Q) => Promise<A>): void {
    this.#handlers.set(protocol.name, async (peer, bytes) => answer.encode(await handler(peer, question.decode(bytes))))
  }

  listen<M>({ topic, message }: GossipTopic<M>, handler: (peer: Peer, message: M) => Promise<GossipResult>): void {
    this.#listeners.set(topic.name, async (peer, bytes) => {
      try {
        return await handler(peer, message.decode(bytes))
      } catch (error) {
        if (!(error instanceof RuleError)) throw error
        peer.penalise(error.code)
        return 'reject'
      }
    })
  }

  broadcast<M>({ topic, message }: GossipTopic<M>, value: M): void {
    const bytes = message.encode(value)
    if (bytes.length > topic.size) throw new Error(`${bytes.length} bytes on ${topic.name}`)
    if (this.#sees(topic.name, bytes)) this.#tell(topic.name, bytes)
  }

  /** A connection to another node of this process. */
  connect(other: FakePeers): void {
    const [there, here] = [new FakePeer(other.name), new FakePeer(this.name)]
    there.other = other.#side(here)
    here.other = this.#side(there)
    this.join(there)
    other.join(here)
  }

  /** A peer whose answers, by the name of the protocol, the test gives. */
  stranger(
    name: string,
    answers: Partial<Record<string, (question: Uint8Array) => Uint8Array | Promise<Uint8Array>>> = {},
  ): FakePeer {
    const peer = new FakePeer(name)
    peer.other = {
      answer: async (protocol, question) => {
        const answer = answers[protocol]
        if (answer === undefined) throw new LinkError('unsupported', `it does not speak ${protocol}`)
        return answer(question)
      },
      hear: () => {},
    }
    this.join(peer)
    return peer
  }

  join(peer: FakePeer): void {
    this.#peers.push(peer)
    this.events.emit('joined', peer)
  }

  leave(peer: FakePeer): void {
    peer.closed = true
    this.#peers.splice(this.#peers.indexOf(peer), 1)
    this.events.emit('left', peer, 'the other side closed it')
  }

  /** A message that a peer tells; what became of it. */
  async hear<M>(peer: FakePeer, { topic, message }: GossipTopic<M>, value: M): Promise<GossipResult> {
    return this.#heard(peer, topic.name, message.encode(value))
  }

  #side(peer: FakePeer): OtherSide {
    return {
      answer: async (protocol, question) => {
        const handler = this.#handlers.get(protocol)
        if (handler === undefined) throw new LinkError('unsupported', `no ${protocol}`)
        if (this.#closed) throw new LinkError('closed', 'the connection is closed')
        return this.#handling(handler(peer, question))
      },
      hear: (topic, message) => void (this.#closed || this.#handling(this.#heard(peer, topic, message))),
    }
  }

  #handling<T>(work: Promise<T>): Promise<T> {
    this.#handled.add(work)
    return work.finally(() => this.#handled.delete(work))
  }

  async #heard(peer: FakePeer, topic: string, message: Uint8Array): Promise<GossipResult> {
    if (!this.#sees(topic, message)) return 'ignore'
    const verdict = (await this.#listeners.get(topic)?.(peer, message)) ?? 'ignore'
    if (verdict === 'accept') this.#tell(topic, message, peer)
    return verdict
  }

  /** Whether a message is new. */
  #sees(topic: string, message: Uint8Array): boolean {
    const id = `${topic} ${mapKey(sha256(message))}`
    const fresh = !this.#seen.has(id)
    this.#seen.add(id)
    return fresh
  }

  #tell(topic: string, message: Uint8Array, but?: FakePeer): void {
    for (const peer of this.#peers) {
      if (peer === but || peer.closed) continue
      this.told.push(topic)
      peer.other.hear(topic, message)
    }
  }
}
