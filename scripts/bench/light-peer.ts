import { randomBytes } from 'node:crypto'
import type { Link, LinkHandler, Protocol } from '../../src/network/link.js'
import { openTransport } from '../../src/network/open-transport.js'
import type { NodeTransport } from '../../src/network/transport/transport-options.js'
import { addressesExchange } from '../../src/network/wire/addresses-message.js'
import { protocols, topics } from '../../src/network/wire/all-messages.js'
import type { Exchange } from '../../src/network/wire/exchange.js'
import { networkVersion, type Status, statusExchange } from '../../src/network/wire/status-message.js'
import { votesExchange } from '../../src/network/wire/votes-message.js'
import { genesisBlock } from '../../src/base/primitives/genesis.js'
import type { Spec } from '../../src/base/primitives/spec.js'
import { systemEnv } from '../../src/base/runtime/process-env.js'
import { quiet } from './load.js'

/** The status of a peer that has the genesis block and serves nothing. */
export function lightStatus(spec: Spec): Status {
  const genesis = genesisBlock(spec).header.hash
  return {
    version: networkVersion,
    genesis,
    upgrades: spec.upgradesDigest(0),
    tipHeight: 0,
    tipHash: genesis,
    chainWork: 0n,
    services: 0,
    relay: true,
    listenPort: 0,
    agent: 'light',
  }
}

/** A peer over real sockets with a key of its own that has only the genesis block, and receives gossip. */
export class LightPeer implements LinkHandler {
  readonly #transport: NodeTransport
  readonly #status: Status
  /** Gossip messages received. */
  heardCount = 0

  static async open(spec: Spec): Promise<LightPeer> {
    const genesis = genesisBlock(spec).header.hash
    const transport = await openTransport({
      secretKey: randomBytes(32),
      genesis,
      protocols,
      topics,
      hosts: [],
      port: undefined,
      env: systemEnv({ ...quiet, warn: () => {} }),
    })
    const peer = new LightPeer(transport, lightStatus(spec))
    await transport.start(peer)
    return peer
  }

  private constructor(transport: NodeTransport, status: Status) {
    this.#transport = transport
    this.#status = status
  }

  /** Connects to a node; without a handshake the node does not count it as a peer. */
  dial(address: string): Promise<Link> {
    return this.#transport.dial(address)
  }

  /** Connects and sends its status. */
  async join(address: string): Promise<Link> {
    const link = await this.dial(address)
    const { refusal } = await this.ask(link, statusExchange, this.#status)
    if (refusal !== undefined) throw new Error(`not wanted: ${refusal}`)
    return link
  }

  async ask<Q, A>(link: Link, { protocol, question, answer }: Exchange<Q, A>, value: Q): Promise<A> {
    return answer.decode(await link.request(protocol, question.encode(value)))
  }

  close(): Promise<void> {
    return this.#transport.close()
  }

  allowsConnection(): boolean {
    return true
  }

  connected(): void {}

  disconnected(): void {}

  onAddress(): void {}

  /** Answers the periodic requests of a node. */
  async answer(_link: Link, { name }: Protocol): Promise<Uint8Array> {
    if (name === statusExchange.protocol.name) {
      return statusExchange.answer.encode({ status: this.#status, refusal: undefined })
    }
    if (name === votesExchange.protocol.name) return votesExchange.answer.encode([])
    if (name === addressesExchange.protocol.name) return addressesExchange.answer.encode([])
    throw new Error(`it has no ${name}`)
  }

  allowsGossip(): boolean {
    return true
  }

  onFlood(): void {}

  onGossip(): Promise<'ignore'> {
    this.heardCount++
    return Promise.resolve('ignore')
  }
}
