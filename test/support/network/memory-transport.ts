import { parseEndpoint } from '../../../src/network/address/ip-address.js'
import {
  type Link,
  LinkError,
  type LinkHandler,
  type Protocol,
  type TopicInfo,
  type Transport,
} from '../../../src/network/link.js'
import { toHex } from '../../../src/primitives/bytes.js'
import { sha256 } from '../../../src/primitives/hash.js'
import type { Timers } from '../../../src/runtime/env.js'

/** Milliseconds that anything takes from one end of a connection to the other. */
const oneWay = 1

/** The wires between nodes of one process. Nothing is lost, all takes the same time, and timers alone move it. */
export class MemoryHub {
  readonly timers: Timers
  /** Where the next connection comes from. */
  nextPort = 40_000
  readonly #listening = new Map<string, MemoryTransport>()
  /** Called instead of the other side where it is set; a test that wants a silent network returns false. */
  passes: (from: MemoryTransport, to: MemoryTransport) => boolean = () => true

  constructor(timers: Timers) {
    this.timers = timers
  }

  /** A transport at `host:port`; it listens unless the port is 0. */
  plug(publicKey: Uint8Array, host: string, port = 20338): MemoryTransport {
    return new MemoryTransport(this, publicKey, host, port)
  }

  listen(transport: MemoryTransport): void {
    if (transport.port !== 0) this.#listening.set(`${transport.host} ${transport.port}`, transport)
  }

  unplug({ host, port }: MemoryTransport): void {
    this.#listening.delete(`${host} ${port}`)
  }

  at(address: string): MemoryTransport | undefined {
    const endpoint = parseEndpoint(address)
    return endpoint === undefined ? undefined : this.#listening.get(`${endpoint.host} ${endpoint.port}`)
  }

  carry(from: MemoryTransport, to: MemoryTransport, arrive: () => void): void {
    this.timers.after(oneWay, () => {
      if (this.passes(from, to)) arrive()
    })
  }
}

/** One end of a connection. */
export class MemoryLink implements Link {
  readonly publicKey: Uint8Array
  readonly peer: string
  readonly inbound: boolean
  readonly host: string
  readonly port: number
  readonly near: MemoryTransport
  readonly far: MemoryTransport
  other!: MemoryLink
  closed = false
  readonly #turns = new Map<string, Promise<unknown>>()
  readonly #waiting = new Set<(error: LinkError) => void>()

  constructor(near: MemoryTransport, far: MemoryTransport, inbound: boolean) {
    this.near = near
    this.far = far
    this.inbound = inbound
    this.publicKey = far.publicKey
    this.peer = toHex(far.publicKey).slice(0, 12)
    this.host = far.host
    this.port = inbound ? near.hub.nextPort++ : far.port
  }

  request(protocol: Protocol, body: Uint8Array): Promise<Uint8Array> {
    const before = this.#turns.get(protocol.name) ?? Promise.resolve()
    const answer = before.then(() => this.#request(protocol, body))
    this.#turns.set(
      protocol.name,
      answer.catch(() => {}),
    )
    return answer
  }

  close(): void {
    if (this.closed) return
    this.end()
    this.near.hub.carry(this.near, this.far, () => this.other.end())
  }

  /** Ends this side alone. */
  end(): void {
    if (this.closed) return
    this.closed = true
    for (const fail of [...this.#waiting]) fail(new LinkError('closed', `the connection to ${this.peer} ended`))
    this.near.ended(this)
  }

  #request(protocol: Protocol, body: Uint8Array): Promise<Uint8Array> {
    const { hub } = this.near
    return new Promise((resolve, reject) => {
      if (this.closed) return reject(new LinkError('closed', `the connection to ${this.peer} is closed`))
      if (body.length > protocol.request) return reject(new LinkError('too-long', `a question of ${body.length} bytes`))
      const fail = (error: LinkError) => {
        cancel()
        if (this.#waiting.delete(fail)) reject(error)
      }
      const cancel = hub.timers.after(protocol.timeout, () => fail(new LinkError('timeout', 'no answer in time')))
      this.#waiting.add(fail)
      const succeed = (answer: Uint8Array) => {
        if (answer.length > protocol.answer) return fail(new LinkError('too-long', `${answer.length} bytes`))
        cancel()
        if (this.#waiting.delete(fail)) resolve(answer)
      }
      hub.carry(this.near, this.far, () => {
        this.far.answer(this.other, protocol, body).then(
          (answer) => hub.carry(this.far, this.near, () => succeed(answer)),
          () => hub.carry(this.far, this.near, () => fail(new LinkError('refused', 'no answer'))),
        )
      })
    })
  }
}

/** The transport of one node. */
export class MemoryTransport implements Transport {
  readonly hub: MemoryHub
  readonly publicKey: Uint8Array
  readonly host: string
  readonly port: number
  /** Addresses that were dialled, in order. */
  readonly dialled: string[] = []
  readonly links = new Set<MemoryLink>()
  readonly #seen = new Set<string>()
  #owner: LinkHandler | undefined

  constructor(hub: MemoryHub, publicKey: Uint8Array, host: string, port: number) {
    this.hub = hub
    this.publicKey = publicKey
    this.host = host
    this.port = port
  }

  start(owner: LinkHandler): Promise<void> {
    this.#owner = owner
    this.hub.listen(this)
    return Promise.resolve()
  }

  dial(address: string): Promise<Link> {
    this.dialled.push(address)
    const far = this.hub.at(address)
    return new Promise((resolve, reject) => {
      const refuse = () => reject(new LinkError('unreachable', `nobody lets ${this.host} in at ${address}`))
      this.hub.timers.after(2 * oneWay, () => {
        if (far === this) return reject(new LinkError('self', `${address} is this node itself`))
        const welcome =
          far !== undefined &&
          this.hub.at(address) === far &&
          this.hub.passes(this, far) &&
          far.#owner?.allowsConnection({ host: this.host, inbound: true }) === true &&
          this.#owner?.allowsConnection({ host: far.host, inbound: false, publicKey: far.publicKey }) === true
        if (far === undefined || !welcome) return refuse()
        const near = new MemoryLink(this, far, false)
        const away = new MemoryLink(far, this, true)
        near.other = away
        away.other = near
        this.links.add(near)
        far.links.add(away)
        far.#owner?.connected(away)
        this.#owner?.connected(near)
        resolve(near)
      })
    })
  }

  broadcast(topic: TopicInfo, message: Uint8Array): void {
    this.#tell(topic, message, undefined)
  }

  async close(): Promise<void> {
    this.hub.unplug(this)
    for (const link of [...this.links]) link.close()
  }

  async answer(link: MemoryLink, protocol: Protocol, body: Uint8Array): Promise<Uint8Array> {
    if (link.closed || this.#owner === undefined) throw new LinkError('closed', 'nobody is here')
    return this.#owner.answer(link, protocol, body)
  }

  ended(link: MemoryLink): void {
    this.links.delete(link)
    this.#owner?.disconnected(link)
  }

  /** Tells one neighbour alone, known or not. */
  tell(link: MemoryLink, topic: TopicInfo, message: Uint8Array): void {
    this.hub.carry(this, link.far, () => void link.far.#hear(link.other, topic, message))
  }

  async #hear(link: MemoryLink, topic: TopicInfo, message: Uint8Array): Promise<void> {
    if (link.closed || this.#owner?.allowsGossip(link, message.length) !== true || this.#knows(topic, message)) return
    if ((await this.#owner?.onGossip(link, topic, message)) === 'accept') this.#tell(topic, message, link)
  }

  #tell(topic: TopicInfo, message: Uint8Array, except: MemoryLink | undefined): void {
    this.#knows(topic, message)
    for (const link of this.links) if (link !== except) this.tell(link, topic, message)
  }

  /** Whether a message was here before; from now on it was. */
  #knows(topic: TopicInfo, message: Uint8Array): boolean {
    const id = `${topic.name} ${toHex(sha256(message))}`
    const known = this.#seen.has(id)
    this.#seen.add(id)
    return known
  }
}
