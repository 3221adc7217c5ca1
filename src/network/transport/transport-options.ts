import type { Hash } from '../../primitives/hash.js'
import type { Env } from '../../runtime/env.js'
import type { Protocol, TopicInfo, Transport } from '../link.js'
import type { TransportLimits } from './transport-limits.js'

export interface TransportOptions {
  /** 32-byte Ed25519 secret: who this node is to others. */
  readonly secretKey: Uint8Array
  /** Hash of the genesis block, which the ids of protocols and topics carry. */
  readonly genesis: Hash
  /** What is answered; others can be asked all the same. */
  readonly protocols: readonly Protocol[]
  /** What is listened to and told on. */
  readonly topics: readonly TopicInfo[]
  /** IP addresses to listen on; those of IPv6 are left out on a machine without it. */
  readonly hosts: readonly string[]
  /** 0: any free one, the same for all hosts; undefined: nobody can connect to this node. */
  readonly port: number | undefined
  /** Whether to look for nodes of the chain in the local network, and to be found there. */
  readonly mdns?: boolean
  readonly env: Pick<Env, 'clock' | 'timers' | 'log'>
  /** Other limits than usual. */
  readonly limits?: Partial<TransportLimits>
}

/** A transport over TCP. */
export interface NodeTransport extends Transport {
  /** The name of this node, as {@link Link.peer} is that of another. */
  readonly peer: string
  /** Where it can be reached, as multiaddrs; none where it does not listen. */
  readonly addresses: readonly string[]
}
