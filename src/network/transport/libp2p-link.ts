import type { Clock, Env, Timers } from '../../base/runtime/env.js'
import { TokenBucket } from '../../base/runtime/token-bucket.js'
import { type Link, LinkError, type Protocol } from '../link.js'
import { dialTargetOf } from './dial-target.js'
import type { FrameStream } from './frames.js'
import type { Connection } from './libp2p-node.js'
import { type RequestLine, RequestClient } from './request-client.js'
import type { TransportLimits } from './transport-limits.js'

export interface LinkDependencies extends Pick<Env, 'clock' | 'timers'> {
  readonly limits: TransportLimits
  idOf(protocol: Protocol): string
}

/** A link over a libp2p connection. */
export class Libp2pLink implements Link, RequestLine {
  readonly connection: Connection
  readonly publicKey: Uint8Array
  readonly peer: string
  readonly inbound: boolean
  readonly host: string
  readonly port: number
  readonly timers: Timers
  readonly limits: TransportLimits
  readonly #clock: Clock
  readonly #gossipItems: TokenBucket
  /** Gossip messages of the peer under validation, and their bytes. */
  readonly gossip = { messages: 0, bytes: 0 }
  readonly #idOf: (protocol: Protocol) => string
  readonly #requests = new Map<Protocol, RequestClient>()
  #closed = false

  constructor(connection: Connection, publicKey: Uint8Array, { clock, timers, limits, idOf }: LinkDependencies) {
    this.connection = connection
    this.publicKey = publicKey
    this.peer = connection.remotePeer.toString()
    this.inbound = connection.direction === 'inbound'
    const { host, port } = dialTargetOf(connection.remoteAddr.getComponents())
    this.host = host
    this.port = port
    this.timers = timers
    this.limits = limits
    this.#clock = clock
    this.#gossipItems = new TokenBucket(limits.gossipItemRate, limits.gossipItemBurst, clock.now())
    this.#idOf = idOf
  }

  get closed(): boolean {
    return this.#closed || this.connection.status !== 'open'
  }

  /** Takes so many gossip entries from the budget of the peer; false if exceeded. */
  takes(items: number): boolean {
    return this.#gossipItems.take(items, this.#clock.now())
  }

  request(protocol: Protocol, body: Uint8Array): Promise<Uint8Array> {
    if (this.closed) return Promise.reject(new LinkError('closed', `the connection to ${this.host} is closed`))
    let requests = this.#requests.get(protocol)
    if (requests === undefined) {
      requests = new RequestClient(this, protocol)
      this.#requests.set(protocol, requests)
    }
    return requests.ask(body)
  }

  async open(protocol: Protocol): Promise<FrameStream> {
    try {
      // One stream per protocol at a time, but a stream that just ended may still be counted.
      return await this.connection.newStream([this.#idOf(protocol)], {
        maxOutboundStreams: this.limits.protocolStreams,
      })
    } catch (error) {
      const { name, message } = error as Error
      if (this.closed) throw new LinkError('closed', `the connection to ${this.host} is closed`)
      if (name === 'UnsupportedProtocolError') {
        throw new LinkError('unsupported', `${this.host} does not speak ${this.#idOf(protocol)}`)
      }
      if (name === 'TimeoutError' || name === 'AbortError') {
        throw new LinkError('timeout', `${this.host} does not open a stream of ${protocol.name}`)
      }
      throw new LinkError('refused', `${this.host} refuses a stream of ${protocol.name}: ${message}`)
    }
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#endRequests()
    const { connection } = this
    connection.close({ signal: AbortSignal.timeout(this.limits.closeTime) }).catch((error: unknown) => {
      connection.abort(error as Error)
    })
  }

  /** Handles the end of the connection, by either end. */
  ended(): void {
    this.#closed = true
    this.#endRequests()
  }

  #endRequests(): void {
    const error = new LinkError('closed', `the connection to ${this.host} is closed`)
    for (const requests of this.#requests.values()) requests.close(error)
  }
}
