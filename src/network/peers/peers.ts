import type { EventEmitter } from 'node:events'
import type { Chain } from '../../chain/chain.js'
import type { Env } from '../../env.js'
import type { Code } from '../../errors.js'
import type { Transport, Verdict } from '../link.js'
import type { Exchange, Subject } from '../wire/exchange.js'
import type { Peer } from './peer.js'

export interface PeersSettings {
  /** Addresses to connect to and to come back to. */
  readonly peers: readonly string[]
  /** Connections that the node opens and keeps beside those. */
  readonly outbound: number
  /** Connections that it takes. */
  readonly inbound: number
}

export interface PeersOptions extends Env {
  readonly transport: Transport
  /** The own 32-byte peer key. */
  readonly publicKey: Uint8Array
  readonly chain: Pick<Chain, 'spec' | 'genesis' | 'tip' | 'events' | 'database'>
  readonly settings: PeersSettings
}

export interface PeersEvents {
  joined: [Peer]
  left: [Peer]
  /** It told another tip than before. */
  status: [Peer]
}

export interface Neighbor {
  readonly id: number
  readonly height: number
  readonly services: number
  readonly relay: boolean
  readonly external: boolean
  readonly address: string
}

export interface Ban {
  readonly kind: 'key' | 'host'
  /** 64 hex digits of a public key, or a host. */
  readonly subject: string
  /** Unix milliseconds. */
  readonly until: number
  readonly reason: string
}

export interface RefusedPeer {
  /** Unix milliseconds. */
  readonly time: number
  readonly address: string
  readonly code: Code
  readonly reason: string
}

export declare class Peers {
  readonly events: EventEmitter<PeersEvents>
  constructor(options: PeersOptions)
  start(): Promise<void>
  stop(): Promise<void>
  all(): readonly Peer[]
  serve<Q, A>(exchange: Exchange<Q, A>, handler: (peer: Peer, question: Q) => Promise<A>): void
  listen<M>(subject: Subject<M>, handler: (peer: Peer, message: M) => Promise<Verdict>): void
  broadcast<M>(subject: Subject<M>, message: M): void
  neighbors(): readonly Neighbor[]
  readonly lastRefusals: readonly RefusedPeer[]
  connect(address: string): Promise<Peer>
  disconnect(id: number): boolean
  ban(subject: string, milliseconds?: number, reason?: string): Promise<Ban>
  unban(subject: string): Promise<boolean>
  listBans(): readonly Ban[]
}
