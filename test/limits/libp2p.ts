import { AbstractMultiaddrConnection } from '@libp2p/utils'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2pNode, type Libp2pNode } from '../../src/network/transport/libp2p-node.js'
import { transportLimits } from '../../src/network/transport/transport-limits.js'
import { sha256 } from '../../src/base/primitives/hash.js'
import { rest } from '../support/fakes/manual-time.js'
import { withPassingTime } from '../support/fakes/passing-time.js'
import { everyDoor, failureOf, limit, many, mib } from './limit.js'

/** Bounds that libp2p keeps: each row feeds the parts of a node as ours sets them up. */

/** A connection, or a stream of one. */
interface Wire {
  readonly status: string
  send(bytes: Uint8Array): boolean
  abort(error: Error): void
}

interface Muxer {
  createStream(): Promise<Wire>
}

/** The parts of libp2p that rows feed. */
interface Parts {
  readonly connectionManager: {
    getConnectionsMap(): Map<unknown, unknown[]>
    acceptIncomingConnection(connection: { readonly remoteAddr: unknown }): boolean
  }
  readonly upgrader: {
    upgradeInbound(connection: unknown, options: object): Promise<void>
    getStreamMuxers(): Map<string, { createStreamMuxer(connection: Wire): Muxer }>
    _createConnection(options: object): {
      onIncomingStream(event: { readonly detail: Wire }): Promise<void>
      newStream(protocol: string): Promise<Wire>
    }
  }
  readonly connectionMonitor: { start(): void; stop(): void }
  readonly logger: { forComponent(name: string): never }
}

/** The inside of libp2p's gossip. */
interface GossipParts {
  readonly peers: Map<string, unknown>
  readonly streamsOutbound: Map<string, { pushPrefixed(bytes: Uint8Array): void }>
  createOutboundStream(peer: unknown, connection: { newStream(): Promise<Wire> }): Promise<void>
  handleReceivedSubscription(peer: unknown, topic: string, subscribe: boolean): boolean
}

interface Opened {
  readonly parts: Parts
  readonly node: Libp2pNode
  readonly gossip: GossipParts
}

const address = multiaddr('/ip4/8.8.8.8/tcp/1')

/** A node that is not started, and has every connection wait before its handshake. */
async function open(): Promise<Opened> {
  const node = await createLibp2pNode({
    secretKey: sha256('limits'),
    listen: [],
    topics: ['news'],
    gater: { denyInboundConnection: () => new Promise(() => {}) },
    limits: transportLimits,
    clock: { now: () => 1_800_000_000_000 },
    discovery: undefined,
  })
  const gossip = node.services.gossip as unknown as GossipParts
  // A proxy, which cannot be taken apart.
  return { parts: Reflect.get(node, 'components') as Parts, node, gossip }
}

/** A connection whose other side takes nothing. */
class DeafConnection extends AbstractMultiaddrConnection {
  constructor({ logger }: Parts) {
    super({ remoteAddr: address, direction: 'inbound', log: logger.forComponent('deaf') })
  }

  override sendData(): { sentBytes: number; canSendMore: boolean } {
    return { sentBytes: 0, canSendMore: false }
  }

  override sendReset(): void {}
  override sendPause(): void {}
  override sendResume(): void {}
  override async sendClose(): Promise<void> {}
}

/** Opens a connection whose other side takes nothing: a stream of it waits from its first byte on. */
function deaf({ parts }: Opened) {
  const connection: Wire = new DeafConnection(parts)
  const [factory] = parts.upgrader.getStreamMuxers().values()
  if (factory === undefined) throw new TypeError('a node has no multiplexer')
  return { connection, muxer: factory.createStreamMuxer(connection) }
}

/** Lets a connection come beside as many. */
async function beside(count: number): Promise<string | undefined> {
  const { parts, node } = await open()
  const { connectionManager } = parts
  connectionManager.getConnectionsMap().set(node.peerId, many(count, {}))
  return connectionManager.acceptIncomingConnection({ remoteAddr: address }) ? undefined : 'the connection is refused'
}

/** Lets as many connections of one address come at once. */
async function atOnce(count: number): Promise<string | undefined> {
  const { connectionManager } = (await open()).parts
  const taken = many(count, { remoteAddr: address }).map((one) => connectionManager.acceptIncomingConnection(one))
  return taken.includes(false) ? 'the connection is refused' : undefined
}

/** Waits for the handshake of a connection up to the last of so many milliseconds. */
function handshake(milliseconds: number): Promise<string | undefined> {
  return withPassingTime(async (pass) => {
    const { parts } = await open()
    const handshaken = failureOf(parts.upgrader.upgradeInbound(new DeafConnection(parts), {}))
    await rest()
    await pass(milliseconds - 1)
    return Promise.race([handshaken.then(() => 'the handshake is ended'), rest().then(() => undefined)])
  })
}

/** Waits for the protocol of a stream up to the last of so many milliseconds. */
function negotiation(
  milliseconds: number,
  begin: (connection: ReturnType<Parts['upgrader']['_createConnection']>, stream: Wire) => Promise<unknown>,
): Promise<string | undefined> {
  return withPassingTime(async (pass) => {
    const opened = await open()
    const { connection: maConn, muxer } = deaf(opened)
    const stream = await muxer.createStream()
    const remotePeer = opened.node.peerId
    const connection = opened.parts.upgrader._createConnection({ id: 'one', maConn, muxer, remotePeer })
    const agreed = failureOf(begin(connection, stream))
    await rest()
    await pass(milliseconds - 1)
    return Promise.race([agreed.then(() => 'the stream is ended'), rest().then(() => undefined)])
  })
}

/** Waits for the answer to a ping up to the last of so many milliseconds. */
function ping(milliseconds: number): Promise<string | undefined> {
  return withPassingTime(async (pass) => {
    const { parts, node } = await open()
    const { connectionManager, connectionMonitor } = parts
    let ended: string | undefined
    const connection = {
      newStream: (_: string, { signal }: { signal: AbortSignal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
      abort: () => (ended = 'the connection is ended'),
    }
    connectionManager.getConnectionsMap().set(node.peerId, [connection])
    connectionMonitor.start()
    await pass(transportLimits.pingInterval)
    await pass(milliseconds - 1)
    await rest()
    connectionMonitor.stop()
    return ended
  })
}

/** Keeps a stream open that the other side opened to ping, up to the last of so many milliseconds. */
function pinged(milliseconds: number): Promise<string | undefined> {
  return withPassingTime(async (pass) => {
    const { node } = await open()
    let ended: string | undefined
    const log = Object.assign(() => {}, { trace: () => {}, newScope: () => log })
    const stream = {
      log,
      abort: () => (ended = 'the stream is ended'),
      [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }),
    }
    const { ping } = node.services
    void (ping as unknown as { handlePing(...of: unknown[]): Promise<void> }).handlePing(stream, { remotePeer: '' })
    await pass(milliseconds - 1)
    return ended
  })
}

/** Has so many bytes wait that the other side does not take. */
function unsent(wire: Wire, send: (bytes: Uint8Array) => unknown, count: number): string | undefined {
  send(new Uint8Array(count))
  return wire.status === 'open' ? undefined : 'what was not taken ends it'
}

async function linkUnsent(count: number): Promise<string | undefined> {
  const { connection } = deaf(await open())
  return unsent(connection, (bytes) => connection.send(bytes), count)
}

async function streamUnsent(count: number): Promise<string | undefined> {
  const stream = await deaf(await open()).muxer.createStream()
  return unsent(stream, (bytes) => stream.send(bytes), count)
}

async function gossipUnsent(count: number): Promise<string | undefined> {
  const opened = await open()
  const { node, gossip } = opened
  await node.start()
  try {
    const stream = await deaf(opened).muxer.createStream()
    const id = node.peerId.toString()
    gossip.peers.set(id, {})
    await gossip.createOutboundStream(node.peerId, { newStream: () => Promise.resolve(stream) })
    const outbound = gossip.streamsOutbound.get(id)
    if (outbound === undefined) throw new TypeError('gossip has no stream')
    const refusal = unsent(stream, (bytes) => outbound.pushPrefixed(bytes), count)
    // Otherwise the node would wait until its bytes are taken.
    stream.abort(new Error('the test is over'))
    return refusal
  } finally {
    await node.stop()
  }
}

/** Lets a peer subscribe to a topic whose name counts as so many bytes. */
async function subscription(bytes: number): Promise<string | undefined> {
  const { node, gossip } = await open()
  const perTopic = 1024
  return gossip.handleReceivedSubscription(node.peerId, 'x'.repeat(bytes - perTopic), true)
    ? undefined
    : 'the subscription is ignored'
}

export const libp2pRows = [
  limit({
    name: 'network/transport/transport-limits.transportLimits.connections',
    unit: 'count',
    value: 1_200,
    feed: (n) => beside(n - 1),
    refusal: 'the connection is refused',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.hostConnects',
    unit: 'count/s',
    value: 64,
    feed: atOnce,
    refusal: 'the connection is refused',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.handshakeTime',
    unit: 'ms',
    value: 5_000,
    feed: handshake,
    refusal: 'the handshake is ended',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.negotiationTime',
    unit: 'ms',
    value: 5_000,
    feed: everyDoor(
      (n) =>
        negotiation(n, async (connection, stream) => {
          await connection.onIncomingStream({ detail: stream })
        }),
      (n) => negotiation(n, (connection) => connection.newStream('/protocol/1')),
    ),
    refusal: 'the stream is ended',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.pingTime',
    unit: 'ms',
    value: 15_000,
    feed: everyDoor(ping, pinged),
    refusal: /the connection is ended\nthe stream is ended/,
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.streamUnsent',
    unit: 'bytes',
    value: mib,
    feed: streamUnsent,
    refusal: 'what was not taken ends it',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.linkUnsent',
    unit: 'bytes',
    value: 8 * mib,
    feed: linkUnsent,
    refusal: 'what was not taken ends it',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.gossipUnsent',
    unit: 'bytes',
    value: 4 * mib,
    feed: gossipUnsent,
    refusal: 'what was not taken ends it',
  }),
  limit({
    name: 'network/transport/transport-limits.transportLimits.gossipTopicBytes',
    unit: 'bytes',
    value: 64 * 1024,
    feed: subscription,
    refusal: 'the subscription is ignored',
  }),
]
