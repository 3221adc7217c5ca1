import { parseEndpoint } from '../../../src/network/address/ip-address.js'
import type { TopicInfo } from '../../../src/network/link.js'
import { sha256 } from '../../../src/base/primitives/hash.js'
import type { Clock, Timers } from '../../../src/base/runtime/env.js'
import { Chance } from '../builders/chance.js'
import type { MemoryLink } from './memory-link.js'
import { MemoryTransport } from './memory-transport.js'

/** How messages fare; a test may change all of it at any time. */
export interface Weather {
  /** Milliseconds one way: the shortest and the longest. */
  delay: readonly [number, number]
  /** Probability that a gossip message, a request or its answer is lost: by topic or protocol. */
  loss(name: string): number
  /** Probability that a gossip message comes twice. */
  duplication: number
  /** Whether messages pass between two nodes; asked as one leaves and as it arrives. */
  passes(from: number, to: number): boolean
}

export const fairWeather: Readonly<Weather> = { delay: [1, 20], loss: () => 0, duplication: 0, passes: () => true }

/** Observer of all messages in a test. */
export interface Tap {
  /** A node gossips a message of its own; called before it leaves, and may end the node. */
  sends(node: number, topic: TopicInfo, message: Uint8Array): void
  /** A new gossip message arrived, a request (`? name`), or its answer (`! name`). */
  arrived(from: number, to: number, what: string, bytes: Uint8Array): void
}

/** Address of a node, and its names. */
export interface Identity {
  readonly publicKey: Uint8Array
  /** The short name that peers know. */
  readonly name: string
  readonly host: string
  /** 0: does not listen. */
  readonly port: number
}

export interface MemoryNetworkOptions {
  readonly time: Clock & Timers
  /** Source of delays, losses and ports. */
  readonly chance?: Chance
  readonly weather?: Partial<Weather>
  readonly tap?: Partial<Tap>
}

/**
 * A network in one process: nodes are numbered, timers alone move messages, and one seed draws what happens to them.
 *
 *     transport.send → carry: passes? lost? → delay → passes? → the other transport
 */
export class MemoryNetwork {
  readonly time: Clock & Timers
  readonly chance: Chance
  readonly weather: Weather
  readonly tap: Partial<Tap>
  readonly #transports = new Map<number, MemoryTransport>()

  constructor({ time, chance = new Chance(1), weather = {}, tap = {} }: MemoryNetworkOptions) {
    this.time = time
    this.chance = chance
    this.weather = { ...fairWeather, ...weather }
    this.tap = tap
  }

  /** A transport for a node, in place of the one it had before. */
  plug(node: number, identity: Partial<Identity> = {}): MemoryTransport {
    const transport = new MemoryTransport(this, node, { ...identityOf(node), ...identity })
    this.#transports.set(node, transport)
    return transport
  }

  /** The transport that listens at an address, or did last. */
  at(address: string): MemoryTransport | undefined {
    const endpoint = parseEndpoint(address)
    return [...this.#transports.values()].findLast(
      ({ host, port }) => endpoint?.host === host && endpoint.port === port,
    )
  }

  /** Open links of a node. */
  links(node: number): readonly MemoryLink[] {
    return this.#transports.get(node)?.links ?? []
  }

  /** Calls `arrive` after a delay, unless what it stands for is lost. */
  carry(from: number, to: number, arrive: () => void, loss = 0): void {
    const { weather, chance } = this
    if (!weather.passes(from, to) || chance.happens(loss)) return
    this.time.after(chance.between(...weather.delay), () => {
      if (weather.passes(from, to)) arrive()
    })
  }
}

/** Default identity of a node: every one has an address group of its own. */
export function identityOf(node: number): Identity {
  return { publicKey: sha256(Uint8Array.of(node)), name: `n${node}`, host: `10.${node}.0.1`, port: 20338 }
}

/** The address of {@link identityOf}. */
export function addressOf(node: number): string {
  const { host, port } = identityOf(node)
  return `${host}:${port}`
}
