import type { RuleError } from '../../base/errors/rule-error.js'
import type { Neighbor } from '../../network/peers/neighbor.js'
import type { PeerManager } from '../../network/peers/peer-manager.js'
import type { SyncProgress } from '../../network/sync/sync-progress.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Standing } from '../resolver/standing.js'
import type { BackupJob } from '../../ledger/storage/care/backup-job.js'
import type { Voting } from '../../voting/voting.js'

/** A client that waits for an answer. */
export interface AnswerClient {
  /** Share under which its answers are counted: an address, or a network. */
  readonly share: string
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal
}

/** The peers of a node. */
export interface NetworkView extends Pick<PeerManager, 'neighbors' | 'disconnect' | 'listBans' | 'unban'> {
  /** Port listened on; 0: none. */
  readonly port: number
  /** Transactions received from peers since the start. */
  readonly receivedCount: number
  progress(): SyncProgress
  /** Connects to `host:port` or a multiaddr and keeps the address; rejects with a LinkError or a RuleError with the reason. */
  connect(address: string): Promise<unknown>
  /** Bans a public key in hex or an IP address for `milliseconds`, and closes the connections to it. */
  ban(subject: string, milliseconds: number, reason: string): Promise<unknown>
}

/** The voting of a chain with validators. */
export type VotingView = Pick<Voting, 'status' | 'received' | 'evidence' | 'votes'>

/** Makes backups of the running node. */
export type BackupView = Pick<BackupJob, 'follow'>

/**
 * Effect of a call on the node that runs it: `none`, it reads; `repeatable`, it may arrive twice, as a transaction, which a node takes once;
 * `once`: it must not.
 */
export type CallEffect = 'none' | 'repeatable' | 'once'

/** The node that a follower follows: it takes what clients send. Refusals of this node are RuleErrors. */
export interface FollowedView {
  /** Base URL of its REST port. */
  readonly url: string
  /** Result of its JSON-RPC; rejects with its error as it stands. */
  call(method: string, params: unknown, client: AnswerClient, effect: CallEffect): Promise<unknown>
  /** Its answer to a POST of JSON at a path of its REST port. */
  post(path: string, body: string, client: AnswerClient): Promise<PassedAnswer>
}

/** The nodes behind a gateway, of which one answers. */
export interface NodesBehind {
  /** `gateway-reads-only` where there is none. */
  readonly refusal: RuleError | undefined
  /** Result of the first node that answers a question at the base URL of its REST port. `gateway-reads-only` without a node. */
  first<T>(ask: (url: string) => Promise<T>): Promise<T>
  /** Result of a call of JSON-RPC; rejects with the node's error as it stands. `gateway-reads-only` without a node. */
  call(method: string, params: unknown, client: AnswerClient, effect: CallEffect): Promise<unknown>
  /** Its answer at a path of its REST port; `body`: JSON text of a POST. */
  request(path: string, body: string | undefined, client: AnswerClient): Promise<PassedAnswer>
}

/** An answer of HTTP as another node gave it. */
export interface PassedAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** State of the node at this moment. */
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

/** Reasons for a {@link ChainStall}, with their meaning for the pages. */
export const stallReasons = {
  'no-quorum': 'votes of fewer than a quorum of validators have arrived for longer than the views of the chain take',
  'tip-old': 'no block has followed the tip for longer than the pace of the chain allows',
} as const
export type StallReason = keyof typeof stallReasons

/** Report that the chain does not advance at this node. */
export interface ChainStall {
  readonly reason: StallReason
  /** Unix seconds at which the node noticed it. */
  readonly since: number
  /** A sentence for people; it names missing validators. */
  readonly detail: string
}

/** Health of the node, for monitoring. */
export interface NodeHealth {
  /** Whether it cannot continue: a write failed, or an invariant is broken. */
  readonly failed: boolean
  readonly stage: 'starting' | 'serving' | 'stopping'
  /** Absent: a gateway none of whose nodes answers, which knows no chain but its rows. */
  readonly sync?: Pick<SyncProgress, 'catchingUp' | 'height' | 'target'>
  readonly standing: Standing
  /** Height of the best proved block, while it is not connected. */
  readonly best?: number
  /** State that only a person can resolve, such as two confirmed blocks at one height. */
  readonly alarm?: string
  /** Absent while the chain advances. */
  readonly stalled?: ChainStall
  /** Seconds by which the clocks of other nodes are ahead of the own one, negative: behind; absent while they agree. */
  readonly clockOffset?: number
  /** Ids of a follower and of the nodes along which it follows, its own first. */
  readonly follows?: readonly string[]
}

/** An account that a devnet pays at its start. */
export interface DevnetAccount {
  readonly index: number
  readonly address: string
  readonly did: string
  /** 33 bytes, compressed. */
  readonly publicKey: Uint8Array
  /** 32 bytes. */
  readonly privateKey: Uint8Array
  /** The second key of its DID. */
  readonly recovery?: { readonly privateKey: Uint8Array }
}

/** Controls that only a devnet offers. Refusals are RuleErrors. */
export interface DevnetControl {
  /** Those that have coins from the start, by index. */
  readonly accounts: readonly DevnetAccount[]
  /** BIP-39 mnemonic of these accounts. */
  readonly mnemonic: string
  /** Makes blocks; resolves with their hashes in display hex. */
  mine(blocks: number): Promise<string[]>
  /** Moves the clock; resolves with its new time in Unix seconds. */
  increaseTime(seconds: number): Promise<number>
  /** Sets the clock to Unix seconds, not before the tip's time; resolves with them. */
  setTime(time: number): Promise<number>
  /** Unix seconds of the next block. */
  setNextBlockTime(time: number): Promise<void>
  /** Pays coins, in units of 10^-8; resolves with the txid. */
  faucet(address: string, amount: bigint): Promise<string>
  /** Saves chain, pool and clock; resolves with the number of the snapshot. */
  snapshot(): Promise<number>
  /** Takes chain, pool and clock back to a snapshot. */
  revert(id: number): Promise<void>
  /** Replaces the last blocks by as many others; `drop`: without their transactions in the pool. Resolves with display hex. */
  reorg(
    blocks: number,
    options: { readonly drop: boolean },
  ): Promise<{ readonly disconnected: readonly string[]; readonly connected: readonly string[] }>
  /** Takes a pooled transaction out, with those that depend on it; resolves with the txids in display hex. */
  dropTransaction(txid: Hash): Promise<string[]>
  /** The whole state as text. */
  dumpState(signal?: AbortSignal): Promise<string>
  /** Puts a state in the place of the present one. */
  loadState(text: string): Promise<void>
}
