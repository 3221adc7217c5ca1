import {
  type Link,
  LinkError,
  type LinkFailure,
  type LinkHandler,
  type Protocol,
  type TopicInfo,
  type Transport,
} from '../../../src/network/link.js'
import { toHex } from '../../../src/base/primitives/bytes.js'
import { sha256 } from '../../../src/base/primitives/hash.js'
import { MemoryLink } from './memory-link.js'
import type { Identity, MemoryNetwork } from './memory-network.js'

/** Milliseconds until a dial that nothing comes of fails. */
const dialTimeout = 5_000
/** Milliseconds for which a gossip message counts as known. */
const seenFor = 120_000

/** The transport of one life of a node in a {@link MemoryNetwork}. */
export class MemoryTransport implements Transport {
  readonly network: MemoryNetwork
  readonly node: number
  readonly publicKey: Uint8Array
  readonly name: string
  readonly host: string
  readonly port: number
  alive = true
  links: MemoryLink[] = []
  /** Addresses that were dialled, in order. */
  readonly dialled: string[] = []
  readonly #seen = new Map<string, number>()
  #owner: LinkHandler | undefined

  constructor(network: MemoryNetwork, node: number, { publicKey, name, host, port }: Identity) {
    this.network = network
    this.node = node
    this.publicKey = publicKey
    this.name = name
    this.host = host
    this.port = port
  }

  start(owner: LinkHandler): Promise<void> {
    this.#owner = owner
    return Promise.resolve()
  }

  dial(address: string): Promise<Link> {
    const { time } = this.network
    this.dialled.push(address)
    return new Promise((resolve, reject) => {
      let cancel = () => {}
      const fail = (failure: LinkFailure) => {
        cancel()
        if (this.alive) reject(new LinkError(failure, `${address}: no connection`))
      }
      const far = this.network.at(address)
      if (far === undefined || far === this) {
        time.after(1, () => fail(far === this ? 'self' : 'unreachable'))
        return
      }
      cancel = time.after(dialTimeout, () => fail('unreachable'))
      const arrive = () => {
        if (!this.alive) return
        if (!far.alive || far.#owner === undefined) return fail('unreachable')
        if (!this.#allows(far, false) || !far.#allows(this, true)) return fail('refused')
        cancel()
        resolve(this.#connect(far))
      }
      this.network.carry(this.node, far.node, arrive)
    })
  }

  broadcast(topic: TopicInfo, message: Uint8Array): void {
    if (!this.alive || message.length > topic.size || this.#knows(topic, message)) return
    this.network.tap.sends?.(this.node, topic, message)
    if (!this.alive) return
    this.#relay(topic, message, undefined)
  }

  close(): Promise<void> {
    for (const link of [...this.links]) link.close()
    this.alive = false
    return Promise.resolve()
  }

  /** Ends the node without a word to its owner; the other ends learn of it. */
  die(): void {
    this.alive = false
    for (const link of [...this.links]) link.close()
    this.links = []
  }

  /** Sends a gossip message over one link alone. */
  send(link: MemoryLink, topic: TopicInfo, message: Uint8Array): void {
    const copy = message.slice()
    const { chance, weather } = this.network
    const arrive = () => (link.other.closed ? link.reset() : void link.far.#receive(link.other, topic, copy))
    const loss = weather.loss(topic.name)
    this.network.carry(this.node, link.far.node, arrive, loss)
    if (chance.happens(weather.duplication)) this.network.carry(this.node, link.far.node, arrive, loss)
  }

  answer(link: MemoryLink, protocol: Protocol, body: Uint8Array): Promise<Uint8Array> {
    if (this.#owner === undefined) return Promise.reject(new LinkError('unsupported', 'the node has not started'))
    return this.#owner.answer(link, protocol, body)
  }

  ended(link: MemoryLink): void {
    this.links = this.links.filter((one) => one !== link)
    if (this.alive) this.#owner?.disconnected(link)
  }

  async #receive(link: MemoryLink, topic: TopicInfo, message: Uint8Array): Promise<void> {
    if (!this.alive || this.#owner?.allowsGossip(link, message.length) !== true || this.#knows(topic, message)) return
    this.network.tap.arrived?.(link.far.node, this.node, topic.name, message)
    const result = await this.#owner.onGossip(link, topic, message)
    if (result === 'accept' && this.alive) this.#relay(topic, message, link.far)
  }

  /** Sends to each neighbour once, over however many links it has. */
  #relay(topic: TopicInfo, message: Uint8Array, except: MemoryTransport | undefined): void {
    const reached = new Set([except])
    for (const link of this.links) {
      if (reached.has(link.far)) continue
      reached.add(link.far)
      this.send(link, topic, message)
    }
  }

  /** Whether a message was here before; from now on it was. */
  #knows(topic: TopicInfo, message: Uint8Array): boolean {
    const id = topic.name + toHex(sha256(message))
    const now = this.network.time.now()
    const until = this.#seen.get(id)
    if (until !== undefined && until > now) return true
    this.#seen.set(id, now + seenFor)
    return false
  }

  /** Whether the owner allows a connection; one that has not started dials where it likes. */
  #allows(far: MemoryTransport, inbound: boolean): boolean {
    const key = inbound ? {} : { publicKey: far.publicKey }
    return this.#owner?.allowsConnection({ host: far.host, inbound, ...key }) !== false
  }

  #connect(far: MemoryTransport): MemoryLink {
    const near = new MemoryLink(this, far, false, far.port)
    const away = new MemoryLink(far, this, true, this.network.chance.between(30_000, 60_000))
    near.other = away
    away.other = near
    this.links.push(near)
    far.links.push(away)
    far.#owner?.connected(away)
    this.#owner?.connected(near)
    return near
  }
}
