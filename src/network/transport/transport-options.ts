import type { Hash } from '../../base/primitives/hash.js'
import type { Env } from '../../base/runtime/env.js'
import type { Protocol, TopicInfo, Transport } from '../link.js'
import type { TransportLimits } from './transport-limits.js'

export interface TransportOptions {
  /** 32-byte Ed25519 secret: the identity of this node. */
  readonly secretKey: Uint8Array
  /** Hash of the genesis block; part of the ids of protocols and topics. */
  readonly genesis: Hash
  /** Protocols to serve; requests can use others too. */
  readonly protocols: readonly Protocol[]
  /** Topics to receive and relay. */
  readonly topics: readonly TopicInfo[]
  /** IP addresses to listen on; IPv6 ones are skipped on a machine without IPv6. */
  readonly hosts: readonly string[]
  /** 0: any free one, the same for all hosts; undefined: no inbound connections. */
  readonly port: number | undefined
  /** Whether to discover nodes of the chain in the local network, and be discovered. */
  readonly mdns?: boolean
  readonly env: Pick<Env, 'clock' | 'timers' | 'log'>
  /** Limits that replace the defaults. */
  readonly limits?: Partial<TransportLimits>
}

/** A transport over TCP. */
export interface NodeTransport extends Transport {
  /** The name of this node, as {@link Link.peer} is that of another. */
  readonly peer: string
  /** Listening addresses as multiaddrs; empty if it does not listen. */
  readonly addresses: readonly string[]
}
