import type { ChainReader } from '../chain/reader.js'
import type { Log } from '../env.js'
import type { Mempool } from '../mempool/mempool.js'
import type { Mining } from '../mining/mining.js'
import type { Resolver, SyncStatus } from '../resolver/resolver.js'
import type { ApiLimits } from './limits.js'
import type { NodeMetrics } from './metrics.js'

/** A connected node past the handshake. */
export interface Neighbor {
  /** Below 2^53. */
  readonly id: number
  readonly height: number
  readonly services: number
  readonly relay: boolean
  /** Whether the other side opened the connection. */
  readonly external: boolean
  /** `host:port`, an IPv6 host in brackets. */
  readonly address: string
}

/** What the node says about itself at this moment. */
export interface NodeInfo {
  /** Version of the program. */
  readonly compile: string
  /** The first 53 bits of sha256 of the public peer key. */
  readonly id: number
  /** Version of the network protocol. */
  readonly version: number
  readonly services: number
  readonly relay: boolean
  /** Transactions on the chain or accepted, and those received, since the start. */
  readonly transactionCount: number
  readonly receivedCount: number
  /** Ports as bound, 0 where nothing listens. */
  readonly ports: { readonly p2p: number; readonly rpc: number; readonly rest: number; readonly ws: number }
  readonly neighbors: readonly Neighbor[]
}

/** How the node is, for those who watch over it. */
export interface NodeHealth {
  /** Whether it cannot go on: a write failed, or an invariant is broken. */
  readonly failed: boolean
  readonly stage: 'starting' | 'serving' | 'stopping'
  readonly sync: SyncStatus
}

/** What only a devnet lets its clients do. Refusals are RuleErrors. */
export interface DevnetControl {
  /** Makes blocks; resolves with their hashes in display hex. */
  mine(blocks: number): Promise<string[]>
  /** Moves the clock; resolves with its new time in Unix seconds. */
  increaseTime(seconds: number): Promise<number>
  /** Unix seconds of the next block. */
  setNextBlockTime(time: number): Promise<void>
  /** Pays coins, in units of 10^-8; resolves with the txid. */
  faucet(address: string, amount: bigint): Promise<string>
  /** Remembers chain, pool and clock; resolves with the number of the snapshot. */
  snapshot(): Promise<number>
  /** Takes chain, pool and clock back to a snapshot. */
  revert(id: number): Promise<void>
}

/** All that the interfaces need from the node. */
export interface ApiContext {
  readonly reader: ChainReader
  readonly mempool: Pick<Mempool, 'accept' | 'get' | 'entries' | 'size' | 'spender' | 'droppedReason'>
  readonly resolver: Pick<Resolver, 'resolve' | 'queryJson'>
  readonly mining: Pick<Mining, 'template' | 'submit' | 'mine' | 'toggle' | 'active'>
  nodeInfo(): NodeInfo
  health(): NodeHealth
  /** Counts what is asked and answered. */
  readonly metrics: NodeMetrics
  /** Absent: there are no `dev_*` methods. */
  readonly devnet?: DevnetControl
  /** What methods with `admin` ask for, 32 bytes; absent: nobody may use them. */
  readonly adminToken?: Uint8Array
  readonly log: Log
  /** What differs from {@link apiLimits}. */
  readonly limits?: Partial<ApiLimits>
}
