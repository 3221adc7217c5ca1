import './patches/with-resolvers.js'
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
import { concat, fromUtf8 } from '../../primitives/bytes.js'
import { sha256 } from '../../primitives/hash.js'
import type { Clock } from '../../runtime/env.js'
import { dialTargetOf } from './dial-target.js'
import { boundFirstBytes } from './patches/first-bytes.js'
import { MuxGuard } from './patches/mux-guard.js'
import type { TransportLimits } from './transport-limits.js'

export { multiaddr }

/** The parts of a libp2p node that the transport uses, and nothing else. */

type Gater = NonNullable<Libp2pOptions['connectionGater']>
type Encrypter = ReturnType<NonNullable<Libp2pOptions['connectionEncrypters']>[number]>
type MuxerFactory = ReturnType<NonNullable<Libp2pOptions['streamMuxers']>[number]>

export interface NodeSettings {
  readonly secretKey: Uint8Array
  /** Multiaddrs. */
  readonly listen: readonly string[]
  /** Ids of the topics that are heard. */
  readonly topics: readonly string[]
  readonly gater: Gater
  readonly limits: TransportLimits
  readonly clock: Clock
  /** The tag to look for in the local network, and what to do with an address that is found. */
  readonly discovery: { readonly tag: string; found(address: string): void } | undefined
}

export type Libp2pNode = Awaited<ReturnType<typeof createLibp2pNode>>
export type Connection = ReturnType<Libp2pNode['getConnections']>[number]
export type PeerId = Libp2pNode['peerId']
export type Stream = Awaited<ReturnType<Connection['newStream']>>

/** The Ed25519 key of a peer; undefined where its name is none or of a key of another kind. */
export function keyOfPeer(peer: PeerId | string): Uint8Array | undefined {
  try {
    const id = typeof peer === 'string' ? peerIdFromString(peer) : peer
    return id.type === 'Ed25519' ? id.publicKey.raw : undefined
  } catch {
    return undefined
  }
}

/** A node that is not started. It dials nobody by itself, keeps no addresses and comes back to nobody. */
export async function createLibp2pNode(settings: NodeSettings) {
  const { limits } = settings
  return createLibp2p({
    start: false,
    privateKey: await generateKeyPairFromSeed('Ed25519', settings.secretKey),
    nodeInfo: { name: 'didledger', version: '', userAgent: 'didledger' },
    addresses: { listen: [...settings.listen] },
    transports: [tcp({ maxConnections: limits.connections + limits.handshakes })],
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
      addressDialTimeout: limits.addressTime,
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
 * Noise without the multiplexer named in its handshake: then the side that dials can leave once it knows the key of the
 * other, and that one never has had a connection; and it learns that it was refused before it has one itself.
 */
function lateMuxerNoise(components: Parameters<ReturnType<typeof noise>>[0]): Encrypter {
  const encrypter: Encrypter = noise()(components)
  const { secureInbound, secureOutbound } = encrypter
  encrypter.secureInbound = (connection, options) =>
    secureInbound.call(encrypter, connection, { ...options, skipStreamMuxerNegotiation: true })
  encrypter.secureOutbound = (connection, options) =>
    secureOutbound.call(encrypter, connection, { ...options, skipStreamMuxerNegotiation: true })
  return encrypter
}

interface Wire {
  readonly writeStatus: 'writable' | 'paused' | 'closing' | 'closed'
}

interface MuxerInside {
  send(data: Uint8Array): boolean
  onRemoteStream(stream: Stream): void
}

/** Yamux with bounds on what waits to be sent, on the length of frames and on what makes us answer. */
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
        // A stream says hello a moment after it was opened, where nobody would catch that the connection has gone meanwhile.
        const { writeStatus } = connection as unknown as Wire
        if (writeStatus === 'writable' || writeStatus === 'paused') throw error
        return false
      }
    }
    const take = inside.onRemoteStream.bind(muxer)
    inside.onRemoteStream = (stream) => {
      boundFirstBytes(stream, limits.negotiationBytes, () => stream.protocol !== '')
      take(stream)
    }
    return muxer
  }
  return factory
}

/** Gossip of unsigned messages that waits for a verdict on each; who is a good neighbour, the owner of the links decides. */
function gossip({ limits, topics }: NodeSettings) {
  return gossipsub({
    globalSignaturePolicy: 'StrictNoSign',
    // A message counts as known on its topic only: else its bytes on another topic would keep it from being heard.
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

/** Multicast DNS beside libp2p's own discovery, which would keep everything that somebody on the local network says. */
function discovery({ tag, found }: NonNullable<NodeSettings['discovery']>) {
  return (components: Parameters<ReturnType<typeof mdns>>[0]) => {
    const service = mdns({ serviceTag: tag })(components) as ReturnType<ReturnType<typeof mdns>> & {
      start(): Promise<void>
      stop(): Promise<void>
    }
    service.addEventListener('peer', ({ detail: { id, multiaddrs } }) => {
      const near = multiaddrs.filter((address) => !isLoopback(dialTargetOf(address.getComponents()).host))
      for (const address of near.length > 0 ? near : multiaddrs) found(`${address.toString()}/p2p/${id.toString()}`)
    })
    return { start: () => service.start(), stop: () => service.stop() }
  }
}

function isLoopback(host: string): boolean {
  return host.startsWith('127.') || host === '::1'
}
