import { noise } from '@chainsafe/libp2p-noise'
import { yamux } from '@chainsafe/libp2p-yamux'
import { generateKeyPair } from '@libp2p/crypto/keys'
import { gossipsub } from '@libp2p/gossipsub'
import { identify } from '@libp2p/identify'
import { tcp } from '@libp2p/tcp'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { addWithResolvers } from '../../../src/network/transport/patches/with-resolvers.js'
import type { TestNode } from '../network/transport.js'

addWithResolvers()

/** A peer that keeps no rule of ours. */
export type RawPeer = Awaited<ReturnType<typeof rawPeer>>

export async function rawPeer(keyType: 'Ed25519' | 'secp256k1' = 'Ed25519') {
  return createLibp2p({
    privateKey: await generateKeyPair(keyType as 'Ed25519'),
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux({ maxOutboundStreams: 10_000 })],
    services: {
      identify: identify(),
      gossip: gossipsub({ globalSignaturePolicy: 'StrictNoSign', allowPublishToZeroTopicPeers: true }),
    },
  })
}

/** Opens a connection of a raw peer to one of our nodes. */
export async function rawConnection(peer: RawPeer, node: TestNode) {
  return peer.dial(multiaddr(`/ip4/127.0.0.1/tcp/${node.transport.port}`))
}
