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
  /** As logs and bans call it: what multiaddrs end in. */
  readonly name: string
  readonly height: number
  readonly services: number
  readonly relay: boolean
  /** Whether the other side opened the connection. */
  readonly external: boolean
  /** `host:port`, an IPv6 host in brackets. */
  readonly address: string
}

/** Who is not let in for now. */
export interface Ban {
  readonly kind: 'key' | 'host'
  /** 64 hex digits of the public key of a node, or an IP address. */
  readonly subject: string
  /** Unix milliseconds. */
  readonly until: number
  readonly reason: string
}

/** How far the node is with learning the chain from its peers. */
export interface SyncProgress extends SyncStatus {
  readonly stage: 'idle' | 'headers' | 'blocks' | 'waiting'
  /** Blocks a second, lately. */
  readonly rate: number
  /** Absent where nobody can tell. */
  readonly secondsLeft?: number
  /** What it waits for. */
  readonly reason?: string
}

/** The peers of a node. */
export interface NetworkView {
  /** That is listened on; 0 where none is. */
  readonly port: number
  /** Transactions that peers handed out since the start. */
  readonly receivedCount: number
  neighbors(): readonly Neighbor[]
  progress(): SyncProgress
  /** Connects to `host:port` or a multiaddr and keeps the address; rejects with a LinkError or a RuleError that says why not. */
  connect(address: string): Promise<unknown>
  /** Closes the connection to a neighbor; false where there is none of that id. */
  disconnect(id: number): boolean
  listBans(): readonly Ban[]
  /** Bans a public key in hex or an IP address for so long, and closes the connections to it. */
  ban(subject: string, milliseconds: number, reason: string): Promise<unknown>
  /** Whether there was such a ban. */
  unban(subject: string): Promise<boolean>
}

/** Two messages of one validator of which it may sign one at most, or two confirms of which one at most may exist. */
export interface Contradiction {
  readonly height: number
  /** 0 for confirms. */
  readonly view: number
  readonly kind: 'proposal' | 'prevote' | 'precommit' | 'confirm'
  /** 33-byte key; of confirms, the sponsor of the one that this node follows. */
  readonly signer: Uint8Array
  /** The messages as they came. */
  readonly first: Uint8Array
  readonly second: Uint8Array
}

/** How the vote on the next block goes. */
export interface VotingStatus {
  readonly height: number
  readonly view: number
  readonly step: string
  /** 33-byte key of the validator whose turn it is in this view. */
  readonly sponsor: Uint8Array
  /** Whether this node votes: `yes`, `no-key`, `not-validator`, or the reason why it does not. */
  readonly signing: string
  /** Set when the chain is broken: two confirmed blocks at one height. */
  readonly alarm?: string
}

/** The voting of a chain with validators. */
export interface VotingView {
  status(): VotingStatus
  /** Votes and proposals of others that were counted since the start. */
  readonly received: number
  /** What is kept, or of it that of a height; the oldest first. */
  evidence(height?: number): readonly Contradiction[]
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
  /** What nobody but a person can mend, such as two confirmed blocks at one height. */
  readonly alarm?: string
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
  /** Absent: the node has no peers and looks for none. */
  readonly network?: NetworkView
  /** Absent on a chain without validators and on a devnet. */
  readonly voting?: VotingView
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
