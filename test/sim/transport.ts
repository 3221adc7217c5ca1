import {
  type Link,
  LinkError,
  type LinkHandler,
  type Protocol,
  type TopicInfo,
  type Transport,
} from '../../src/network/link.js'
import { toHex } from '../../src/primitives/bytes.js'
import { sha256 } from '../../src/primitives/hash.js'
import type { Agenda } from './clock.js'
import type { Chance } from '../support/builders/chance.js'

/** How messages fare. All of it may change while the simulation runs. */
export interface Weather {
  /** Milliseconds one way: the shortest and the longest. */
  delay: readonly [number, number]
  /** Probability that a gossiped message, or a request or its answer, is lost: of what goes by that name. */
  loss(name: string, bytes: Uint8Array): number
  /** Probability that a gossiped message comes twice. */
  duplication: number
  /** Whether messages pass between two nodes; both ways are asked for. */
  passes(from: number, to: number): boolean
}

export const fairWeather: Weather = { delay: [1, 20], loss: () => 0, duplication: 0, passes: () => true }

/** Milliseconds until a connection that nobody answers is given up. */
const dialTimeout = 5_000
/** Milliseconds for which a message that came again is known. */
const seenFor = 120_000
export const simulatedPort = 20338

export function hostOf(node: number): string {
  return `10.${node}.0.1`
}

export function addressOf(node: number): string {
  return `${hostOf(node)}:${simulatedPort}`
}

export function publicKeyOfNode(node: number): Uint8Array {
  return sha256(Uint8Array.of(node))
}

/** Who listens in on all wires. */
export interface Tap {
  /** A node tells its neighbours something; called before it leaves, and the node may be dead afterwards. */
  tells(node: number, topic: TopicInfo, message: Uint8Array): void
  /** Something arrived. */
  arrived(from: number, to: number, what: string, bytes: Uint8Array): void
}

/** All wires between simulated nodes. */
export class Wires {
  readonly agenda: Agenda
  readonly chance: Chance
  readonly weather: Weather
  readonly tap: Tap
  readonly #transports = new Map<number, SimulatedTransport>()

  constructor(agenda: Agenda, chance: Chance, weather: Weather, tap: Tap) {
    this.agenda = agenda
    this.chance = chance
    this.weather = weather
    this.tap = tap
  }

  /** The transport of a node that begins to live. */
  plug(node: number): SimulatedTransport {
    const transport = new SimulatedTransport(this, node)
    this.#transports.set(node, transport)
    return transport
  }

  at(address: string): SimulatedTransport | undefined {
    return [...this.#transports.values()].find(({ node }) => addressOf(node) === address)
  }

  /** Open connections of a node. */
  links(node: number): readonly SimulatedLink[] {
    return this.#transports.get(node)?.links ?? []
  }

  /** Has something arrive, unless it is lost. */
  carry(from: number, to: number, arrive: () => void, loss = 0): void {
    const { weather, chance } = this
    if (!weather.passes(from, to) || chance.happens(loss)) return
    this.agenda.after(chance.between(...weather.delay), () => {
      if (weather.passes(from, to)) arrive()
    })
  }
}

/** One end of a connection. */
export class SimulatedLink implements Link {
  readonly publicKey: Uint8Array
  readonly peer: string
  readonly inbound: boolean
  readonly host: string
  readonly port: number
  readonly near: SimulatedTransport
  readonly far: SimulatedTransport
  /** The other end. */
  other!: SimulatedLink
  closed = false
  readonly #turns = new Map<string, Promise<unknown>>()
  readonly #waiting = new Set<(error: LinkError) => void>()

  constructor(near: SimulatedTransport, far: SimulatedTransport, inbound: boolean, port: number) {
    this.near = near
    this.far = far
    this.inbound = inbound
    this.port = port
    this.publicKey = publicKeyOfNode(far.node)
    this.peer = `n${far.node}`
    this.host = hostOf(far.node)
  }

  request(protocol: Protocol, body: Uint8Array): Promise<Uint8Array> {
    const before = this.#turns.get(protocol.name) ?? Promise.resolve()
    const answer = before.then(() => this.#request(protocol, body.slice()))
    this.#turns.set(
      protocol.name,
      answer.catch(() => {}),
    )
    return answer
  }

  close(): void {
    if (this.closed) return
    this.#end()
    this.near.wires.carry(this.near.node, this.far.node, () => this.other.#end())
  }

  /** Both ends are cut at once. */
  cut(): void {
    this.#end()
    this.other.#end()
  }

  /** What came over this link found no other end: word of that goes back. */
  reset(): void {
    this.near.wires.carry(this.far.node, this.near.node, () => this.#end())
  }

  #end(): void {
    if (this.closed) return
    this.closed = true
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const fail of waiting) fail(new LinkError('closed', `the connection to ${this.peer} ended`))
    this.near.ended(this)
  }

  #request(protocol: Protocol, body: Uint8Array): Promise<Uint8Array> {
    const { wires, node } = this.near
    return new Promise((resolve, reject) => {
      if (!this.near.alive) return
      if (this.closed) return reject(new LinkError('closed', `the connection to ${this.peer} is closed`))
      if (body.length > protocol.request) return reject(new LinkError('too-long', `a question of ${body.length} bytes`))
      const settle = (act: () => void) => {
        if (!this.#waiting.delete(fail) || !this.near.alive) return
        cancel()
        act()
      }
      const fail = (error: LinkError) => {
        this.#waiting.delete(fail)
        cancel()
        if (this.near.alive) reject(error)
      }
      this.#waiting.add(fail)
      const cancel = wires.agenda.after(protocol.timeout, () =>
        settle(() => reject(new LinkError('timeout', `${this.peer} did not answer in time`))),
      )
      const loss = wires.weather.loss(protocol.name, body)
      const back = (act: () => void) => wires.carry(this.far.node, node, () => settle(act), loss)
      const arrive = () => {
        if (this.other.closed) return this.reset()
        wires.tap.arrived(node, this.far.node, `? ${protocol.name}`, body)
        const refuse = () => back(() => reject(new LinkError('refused', `${this.peer} does not answer this`)))
        this.far.answer(this.other, protocol, body).then((answer) => {
          if (!this.far.alive) return
          const whole = answer.slice()
          if (whole.length <= protocol.answer) {
            return back(() => {
              wires.tap.arrived(this.far.node, node, `! ${protocol.name}`, whole)
              resolve(whole)
            })
          }
          return back(() => reject(new LinkError('too-long', `an answer of ${whole.length} bytes`)))
        }, refuse)
      }
      wires.carry(node, this.far.node, arrive, loss)
    })
  }
}

/** The transport of one life of a node. */
export class SimulatedTransport implements Transport {
  readonly port = simulatedPort
  readonly wires: Wires
  readonly node: number
  alive = true
  links: SimulatedLink[] = []
  readonly #seen = new Map<string, number>()
  #owner: LinkHandler | undefined

  constructor(wires: Wires, node: number) {
    this.wires = wires
    this.node = node
  }

  start(owner: LinkHandler): Promise<void> {
    this.#owner = owner
    return Promise.resolve()
  }

  dial(address: string): Promise<Link> {
    const { agenda } = this.wires
    return new Promise((resolve, reject) => {
      let cancel = () => {}
      const fail = (failure: 'unreachable' | 'refused') => {
        cancel()
        if (this.alive) reject(new LinkError(failure, `${address}: no connection`))
      }
      const far = this.wires.at(address)
      cancel = agenda.after(far === undefined || far === this ? 1 : dialTimeout, () => fail('unreachable'))
      if (far === undefined || far === this) return
      const arrive = () => {
        if (!this.alive) return
        if (!far.alive || far.#owner === undefined) return fail('unreachable')
        if (!this.#admits(far, false) || !far.#admits(this, true)) return fail('refused')
        cancel()
        resolve(this.#connect(far))
      }
      this.wires.carry(this.node, far.node, arrive)
    })
  }

  broadcast(topic: TopicInfo, message: Uint8Array): void {
    if (!this.alive || message.length > topic.size || this.#known(topic, message)) return
    this.wires.tap.tells(this.node, topic, message)
    if (!this.alive) return
    this.#tell(topic, message, undefined)
  }

  close(): Promise<void> {
    for (const link of [...this.links]) link.close()
    this.alive = false
    return Promise.resolve()
  }

  /** The node is no more: nobody at this end learns of anything, and the other ends find out. */
  die(): void {
    this.alive = false
    for (const link of [...this.links]) link.close()
    this.links = []
  }

  /** Tells one neighbour alone. */
  tell(link: SimulatedLink, topic: TopicInfo, message: Uint8Array): void {
    const copy = message.slice()
    const { chance, weather } = this.wires
    const arrive = () => (link.other.closed ? link.reset() : void link.far.#hear(link.other, topic, copy))
    const loss = weather.loss(topic.name, message)
    this.wires.carry(this.node, link.far.node, arrive, loss)
    if (chance.happens(weather.duplication)) this.wires.carry(this.node, link.far.node, arrive, loss)
  }

  answer(link: SimulatedLink, protocol: Protocol, body: Uint8Array): Promise<Uint8Array> {
    if (this.#owner === undefined) return Promise.reject(new LinkError('unsupported', 'nobody answers here'))
    return this.#owner.answer(link, protocol, body)
  }

  ended(link: SimulatedLink): void {
    this.links = this.links.filter((one) => one !== link)
    if (this.alive) this.#owner?.disconnected(link)
  }

  async #hear(link: SimulatedLink, topic: TopicInfo, message: Uint8Array): Promise<void> {
    if (!this.alive || this.#owner?.allowsGossip(link, message.length) !== true || this.#known(topic, message)) return
    this.wires.tap.arrived(link.far.node, this.node, topic.name, message)
    const verdict = await this.#owner.onGossip(link, topic, message)
    if (verdict === 'accept' && this.alive) this.#tell(topic, message, link.far)
  }

  /** One connection to each neighbour carries gossip, however many there are. */
  #tell(topic: TopicInfo, message: Uint8Array, except: SimulatedTransport | undefined): void {
    const told = new Set([except])
    for (const link of this.links) {
      if (told.has(link.far)) continue
      told.add(link.far)
      this.tell(link, topic, message)
    }
  }

  /** Whether a message was here before; from now on it was. */
  #known(topic: TopicInfo, message: Uint8Array): boolean {
    const id = topic.name + toHex(sha256(message))
    const { now } = this.wires.agenda
    const until = this.#seen.get(id)
    if (until !== undefined && until > now) return true
    this.#seen.set(id, now + seenFor)
    return false
  }

  #admits(far: SimulatedTransport, inbound: boolean): boolean {
    const key = inbound ? {} : { publicKey: publicKeyOfNode(far.node) }
    return this.#owner?.allowsConnection({ host: hostOf(far.node), inbound, ...key }) === true
  }

  #connect(far: SimulatedTransport): SimulatedLink {
    const near = new SimulatedLink(this, far, false, simulatedPort)
    const away = new SimulatedLink(far, this, true, this.wires.chance.between(30_000, 60_000))
    near.other = away
    away.other = near
    this.links.push(near)
    far.links.push(away)
    far.#owner?.connected(away)
    this.#owner?.connected(near)
    return near
  }
}
