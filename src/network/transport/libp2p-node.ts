import { noise } from '@chainsafe/libp2p-noise'
import { yamux } from '@chainsafe/libp2p-yamux'
import { generateKeyPairFromSeed } from '@libp2p/crypto/keys'
import { gossipsub } from '@libp2p/gossipsub'
import { identify } from '@libp2p/identify'
import { mdns } from '@libp2p/mdns'
import { peerIdFromString } from '@libp2p/peer-id'
import { ping } from '@libp2p/ping'
import { tcp } from '@libp2p/tcp'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p, type Libp2pOptions } from 'libp2p'
import { concat, fromUtf8 } from '../../base/primitives/bytes.js'
import { sha256 } from '../../base/primitives/hash.js'
import type { Clock } from '../../base/runtime/env.js'
import { dialTargetOf } from './dial-target.js'
import { boundAddressDials } from './patches/address-timeout.js'
import { boundFirstBytes } from './patches/first-bytes.js'
import { MuxGuard } from './patches/mux-guard.js'
import { writeWhole } from './patches/whole-writes.js'
import { addWithResolvers } from './patches/with-resolvers.js'
import type { TransportLimits } from './transport-limits.js'

export { multiaddr }

addWithResolvers()

/** Set-up of libp2p: only the services that the transport uses. */

type Gater = NonNullable<Libp2pOptions['connectionGater']>
type Encrypter = ReturnType<NonNullable<Libp2pOptions['connectionEncrypters']>[number]>
type MuxerFactory = ReturnType<NonNullable<Libp2pOptions['streamMuxers']>[number]>

export interface NodeSettings {
  readonly secretKey: Uint8Array
  /** Multiaddrs. */
  readonly listen: readonly string[]
  /** Ids of the topics to receive. */
  readonly topics: readonly string[]
  readonly gater: Gater
  readonly limits: TransportLimits
  readonly clock: Clock
  /** Multicast DNS: service tag, and callback for an address found; undefined: off. */
  readonly discovery:
    | {
        readonly tag: string
        found(address: string): void
        /** Nothing can be sent, as without a route for multicast, or received. */
        failed(error: Error): void
      }
    | undefined
}

export type Libp2pNode = Awaited<ReturnType<typeof createLibp2pNode>>
export type Connection = ReturnType<Libp2pNode['getConnections']>[number]
export type PeerId = Libp2pNode['peerId']
export type Stream = Awaited<ReturnType<Connection['newStream']>>

/** The Ed25519 key of a peer; undefined if its name is invalid or of another key type. */
export function keyOfPeer(peer: PeerId | string): Uint8Array | undefined {
  try {
    const id = typeof peer === 'string' ? peerIdFromString(peer) : peer
    return id.type === 'Ed25519' ? id.publicKey.raw : undefined
  } catch {
    return undefined
  }
}

/** Creates a libp2p node, not started, that never dials or reconnects by itself and keeps no addresses. */
export async function createLibp2pNode(settings: NodeSettings) {
  const { limits } = settings
  const transport = tcp({ maxConnections: limits.connections + limits.handshakes })
  return createLibp2p({
    start: false,
    privateKey: await generateKeyPairFromSeed('Ed25519', settings.secretKey),
    nodeInfo: { name: 'didledger', version: '', userAgent: 'didledger' },
    addresses: { listen: [...settings.listen] },
    transports: [(components) => boundAddressDials(transport(components), limits.addressTime)],
    connectionEncrypters: [lateMuxerNoise],
    streamMuxers: [() => guardedYamux(limits, settings.clock)],
    connectionGater: { ...settings.gater, filterMultiaddrForPeer: () => false },
    connectionManager: {
      maxConnections: limits.connections,
      maxIncomingPendingConnections: limits.handshakes * 2,
      inboundConnectionThreshold: limits.hostConnects,
      inboundUpgradeTimeout: limits.handshakeTime,
      inboundStreamProtocolNegotiationTimeout: limits.negotiationTime,
      outboundStreamProtocolNegotiationTimeout: limits.negotiationTime,
      connectionCloseTimeout: limits.closeTime,
      dialTimeout: limits.dialTime,
      maxParallelDials: limits.dialsAtOnce,
      maxDialQueueLength: limits.dialsWaiting,
      maxPeerAddrsToDial: limits.dialAddresses,
      reconnectRetries: 0,
    },
    connectionMonitor: {
      pingInterval: limits.pingInterval,
      pingTimeout: { minTimeout: limits.pingTime, maxTimeout: limits.pingTime },
    },
    services: {
      identify: identify({
        runOnConnectionOpen: false,
        timeout: limits.negotiationTime,
        maxInboundStreams: limits.protocolStreams,
        maxOutboundStreams: limits.protocolStreams,
      }),
      ping: ping({
        timeout: limits.pingTime,
        maxInboundStreams: limits.protocolStreams,
        maxOutboundStreams: limits.protocolStreams,
      }),
      gossip: gossip(settings),
      ...(settings.discovery === undefined ? {} : { discovery: discovery(settings.discovery) }),
    },
  })
}

/**
 * Noise without multiplexer negotiation in its handshake. A dialler can then abort once it has the key, before the listener opens a
 * connection; and it receives a refusal before it opens one itself.
 */
function lateMuxerNoise(components: Parameters<ReturnType<typeof noise>>[0]): Encrypter {
  const encrypter: Encrypter = noise()(components)
  const { secureInbound, secureOutbound } = encrypter
  encrypter.secureInbound = (connection, options) => {
    writeWhole(connection)
    return secureInbound.call(encrypter, connection, { ...options, skipStreamMuxerNegotiation: true })
  }
  encrypter.secureOutbound = (connection, options) => {
    writeWhole(connection)
    return secureOutbound.call(encrypter, connection, { ...options, skipStreamMuxerNegotiation: true })
  }
  return encrypter
}

interface Wire {
  readonly writeStatus: 'writable' | 'paused' | 'closing' | 'closed'
}

interface MuxerInside {
  send(data: Uint8Array): boolean
  onRemoteStream(stream: Stream): void
}

/** Yamux with bounds on unsent bytes, frame length, and frames that need an answer. */
function guardedYamux(limits: TransportLimits, clock: Clock): MuxerFactory {
  const factory = yamux({
    maxInboundStreams: limits.streams,
    maxOutboundStreams: limits.streams,
    maxEarlyStreams: limits.streams,
    streamOptions: {
      maxStreamWindowSize: limits.window,
      maxReadBufferLength: limits.window,
      maxWriteBufferLength: limits.streamUnsent,
    },
  })() as MuxerFactory
  const create = factory.createStreamMuxer.bind(factory)
  factory.createStreamMuxer = (connection) => {
    connection.maxWriteBufferLength = limits.linkUnsent
    const guard = new MuxGuard(limits, clock)
    connection.addEventListener('message', (event) => {
      for (const part of event.data instanceof Uint8Array ? [event.data] : event.data) {
        const refusal = guard.refusal(part)
        if (refusal === undefined) continue
        event.stopImmediatePropagation()
        connection.abort(new Error(refusal))
        return
      }
    })
    const muxer = create(connection)
    const inside = muxer as unknown as MuxerInside
    const send = inside.send.bind(muxer)
    inside.send = (data) => {
      try {
        return send(data)
      } catch (error) {
        // A new stream sends its first frame later, where no caller catches the error of a connection closed since.
        const { writeStatus } = connection as unknown as Wire
        if (writeStatus === 'writable' || writeStatus === 'paused') throw error
        return false
      }
    }
    const accept = inside.onRemoteStream.bind(muxer)
    inside.onRemoteStream = (stream) => {
      boundFirstBytes(stream, limits.negotiationBytes, () => stream.protocol !== '')
      accept(stream)
    }
    return muxer
  }
  return factory
}

/** Gossipsub: unsigned messages, validated one by one. Peer scores are off: the LinkHandler penalises peers. */
function gossip({ limits, topics }: NodeSettings) {
  return gossipsub({
    globalSignaturePolicy: 'StrictNoSign',
    // Id includes the topic: else equal bytes sent on another topic would suppress the message.
    msgIdFn: ({ topic, data }) => sha256(concat(fromUtf8(`${topic}\n`), data)),
    asyncValidation: true,
    awaitRpcHandler: true,
    awaitRpcMessageHandler: true,
    allowPublishToZeroTopicPeers: true,
    ignoreDuplicatePublishError: true,
    emitSelf: false,
    fallbackToFloodsub: false,
    floodPublish: true,
    batchPublish: true,
    doPX: false,
    tagMeshPeers: false,
    allowedTopics: [...topics],
    maxTopicBytesPerPeer: limits.gossipTopicBytes,
    maxInboundDataLength: limits.gossipFrame,
    maxOutboundBufferSize: limits.gossipUnsent,
    maxInboundStreams: limits.protocolStreams,
    maxOutboundStreams: limits.protocolStreams,
    seenTTL: limits.gossipSeen,
    mcacheLength: limits.gossipKept,
    decodeRpcLimits: {
      maxSubscriptions: limits.gossipItems,
      maxMessages: limits.gossipItems,
      maxControlMessages: limits.gossipItems,
      maxIhaveMessageIDs: limits.gossipItems,
      maxIwantMessageIDs: limits.gossipItems,
      maxIdontwantMessageIDs: limits.gossipItems,
      maxPeerInfos: 0,
    },
    scoreParams: { behaviourPenaltyWeight: 0, IPColocationFactorWeight: 0, appSpecificWeight: 0, retainScore: 0 },
  })
}

/** Multicast DNS outside libp2p's discovery, which would store every address claimed on the local network. */
function discovery({ tag, found, failed }: NonNullable<NodeSettings['discovery']>) {
  return (components: Parameters<ReturnType<typeof mdns>>[0]) => {
    const service = mdns({ serviceTag: tag })(components) as ReturnType<ReturnType<typeof mdns>> & {
      start(): Promise<void>
      stop(): Promise<void>
      readonly mdns?: MulticastSocket
    }
    service.addEventListener('peer', ({ detail: { id, multiaddrs } }) => {
      const remote = multiaddrs.filter((address) => !isLoopback(dialTargetOf(address.getComponents()).host))
      for (const address of remote.length > 0 ? remote : multiaddrs) found(`${address.toString()}/p2p/${id.toString()}`)
    })
    const start = async () => {
      await service.start()
      if (service.mdns !== undefined) watchSocket(service.mdns, failed)
    }
    return { start, stop: () => service.stop() }
  }
}

/** The part of the package multicast-dns that is watched. */
interface MulticastSocket {
  send(packet: unknown, target: unknown, sent?: (error?: Error | null) => void): void
  on(event: 'error', callback: (error: Error) => void): void
}

/** Reports what a socket of multicast DNS cannot send: libp2p asks for no result of its questions. */
function watchSocket(socket: MulticastSocket, failed: (error: Error) => void): void {
  const { send } = socket
  socket.send = (packet, target, sent) =>
    send(packet, target, (error) => {
      if (error instanceof Error) failed(error)
      sent?.(error)
    })
  socket.on('error', failed)
}

function isLoopback(host: string): boolean {
  return host.startsWith('127.') || host === '::1'
}
