import type { DocumentQuery, QueryResult, ResolveResult } from '../did/resolution.js'
import type { BlockChanged, DidChanged, TransactionAccepted } from '../events/ledger-event.js'
import type { Neighbor } from '../network/peers/neighbor.js'
import type { SyncProgress } from '../network/sync/sync-progress.js'
import type { Block } from '../primitives/block.js'
import type { DidOperationJson } from '../primitives/did-operation.js'
import type { Transaction } from '../primitives/transaction.js'
import type { Log } from '../runtime/env.js'
import type { SigningAccount } from '../wallet/accounts.js'
import type { DocumentChanges, RecoveryKey } from '../wallet/did-identity.js'
import type { ShippedSpec } from './shipped.js'

/** What createNode gives and takes. Amounts that go in are units of 10^-8 as bigint, or coins as text: 250000000n is '2.5'. */

export type Amount = bigint | string

export interface CreateNodeOptions {
  /** A chain spec that comes with the package. Exactly one of this and `spec`. */
  readonly network?: ShippedSpec
  /** A chain spec: its JSON text, or the object that the text spells. */
  readonly spec?: string | Readonly<Record<string, unknown>>
  /** Where to keep the chain; a temporary directory that goes with the node when absent. */
  readonly dataDir?: string
  /** REST, JSON-RPC and WebSocket; nothing listens when absent. `true` takes the ports and addresses of the command. */
  readonly api?: boolean | ApiOptions
  /** When a devnet makes blocks: at once (`auto`, the default), when told to (`manual`), or every so many seconds. */
  readonly mining?: 'auto' | 'manual' | { readonly seconds: number }
  /** How many accounts of a devnet have coins, 1 to 100; ten when absent. */
  readonly accounts?: number
  /** On a chain without validators: mine, and pay this address. With `validatorKey`: whom own blocks pay. */
  readonly mineTo?: string
  /** Nodes to connect to, and to come back to: `host:port`, or a multiaddr as nodes print it. An empty list knows nobody yet. */
  readonly peers?: readonly string[]
  /** Lets other nodes connect. `true` takes the port and the addresses of the command. Nothing listens when absent. */
  readonly listen?: boolean | ListenOptions
  /** Look for nodes in the local network by multicast DNS, and be found there. */
  readonly mdns?: boolean
  /** `HEIGHT:HASH` of a block: signatures up to it are trusted once it is on the chain that peers prove. */
  readonly assumeValid?: string
  /** On a chain with validators: vote with this private key, 32 bytes or 64 hex digits. Needs `dataDir`; no other node may use it. */
  readonly validatorKey?: Uint8Array | string
  /** Vote although nobody knows any more what the key has signed: from the next block on, or at the open one. */
  readonly resetSignState?: 'next' | 'now'
  /** Where the node reports, in the form of a pino logger; nowhere when absent. */
  readonly log?: Log
}

export interface ApiOptions {
  /** REST listens on this and 4, WebSocket on 5, JSON-RPC on 6; 0 takes free ports. 20330 when absent. */
  readonly portBase?: number
  /** Addresses to listen on; those of this machine alone when absent. */
  readonly hosts?: readonly string[]
}

export interface ListenOptions {
  /** 20338 when absent; 0 takes a free one. */
  readonly port?: number
  /** IP addresses to listen on; all when absent. */
  readonly hosts?: readonly string[]
}

/** A node in this process. */
export interface LedgerNode {
  /** Name of the chain. */
  readonly name: string
  readonly dataDir: string
  readonly resolver: NodeResolver
  readonly chain: NodeChain
  readonly mempool: NodeMempool
  readonly wallet: NodeWallet
  readonly events: NodeEvents
  /** How far the node is with learning the chain of its peers, now. */
  readonly sync: SyncProgress
  /**
   * Resolves when a peer is connected and none is known to have more; at once for a node without peers. Rejects when nothing has
   * moved for `timeout` milliseconds (120 000).
   */
  synced(options?: { readonly timeout?: number }): Promise<void>
  /** Undefined unless `peers`, `listen` or `mdns` asked for them. */
  readonly peers: NodePeers | undefined
  /** How the vote on the next block goes; undefined on a chain without validators, and on a devnet. */
  readonly voting: NodeVoting | undefined
  /** Undefined on any chain but a devnet. */
  readonly devnet: NodeDevnet | undefined
  /** Base URLs; undefined when nothing listens. */
  readonly api: { readonly rest: string; readonly rpc: string; readonly ws: string } | undefined
  /** Rejects when the node cannot go on, as after a write that failed; it has to be closed then. Never resolves. */
  readonly failure: Promise<never>
  /** Ends everything that the node started. May be called again. */
  close(): Promise<void>
}

export interface NodeResolver {
  /** The state of a DID, given in full or as the identifier alone; with `all` every operation instead of the last one. */
  resolve(did: string, options?: { readonly all?: boolean }): Promise<ResolveResult>
  /** The current documents that match, those of deactivated DIDs left out. */
  query(query: DocumentQuery): Promise<QueryResult>
}

export interface NodeChain {
  readonly height: number
  readonly tip: ChainTip
  /** Hash of the first block, display hex. */
  readonly genesis: string
  /** A block of the active chain by height, or any that is kept by hash (display hex). */
  block(heightOrHash: number | string): Promise<Block | undefined>
  /** On a chain with validators: the confirm of a block that is kept, by hash; what `acceptBlock` takes beside the block. */
  confirm(hash: string): Uint8Array | undefined
  /** A transaction of the active chain. */
  transaction(txid: string): MinedTransaction | undefined
  /** Resolves when a transaction stands in a block. Rejects when the pool drops it, or after `timeout` milliseconds (120 000). */
  waitFor(txid: string, options?: { readonly timeout?: number }): Promise<MinedTransaction>
  /** The sum of the unspent outputs of an address, in units of 10^-8. */
  balance(address: string): bigint
  /** The unspent outputs of an address, oldest first. */
  coins(address: string): Promise<UnspentOutput[]>
  /** Takes a block, and on a chain with validators its confirm. Rejects with the rule that it breaks. */
  acceptBlock(block: Uint8Array, confirm?: Uint8Array): Promise<'connected' | 'side' | 'known'>
}

export interface ChainTip {
  /** Display hex. */
  readonly hash: string
  readonly height: number
  /** Unix seconds. */
  readonly time: number
}

export interface MinedTransaction {
  readonly transaction: Transaction
  /** Display hex. */
  readonly blockhash: string
  readonly height: number
  /** Unix seconds of the block. */
  readonly blocktime: number
  readonly confirmations: number
}

export interface UnspentOutput {
  /** Display hex. */
  readonly txid: string
  readonly index: number
  /** In units of 10^-8. */
  readonly value: bigint
  readonly height: number
}

export interface NodeMempool {
  readonly size: number
  /** In bytes. */
  readonly bytes: number
  /** Takes a signed transaction, as bytes or hex, and returns its txid once it is on disk. */
  send(transaction: Transaction | Uint8Array | string): Promise<string>
  get(txid: string): Transaction | undefined
  /** In order of arrival. */
  entries(): PooledTransaction[]
}

export interface PooledTransaction {
  readonly transaction: Transaction
  /** In units of 10^-8. */
  readonly fee: bigint
  /** Milliseconds since the Unix epoch. */
  readonly arrival: number
}

/** Builds, signs and sends with keys that the caller holds. Everything resolves when the pool has the transaction. */
export interface NodeWallet {
  /** The funded accounts of a devnet; empty on any other chain. Everybody knows their keys. */
  readonly accounts: readonly SigningAccount[]
  /** Account `index` of a devnet. */
  account(index: number): SigningAccount
  /** Pays `amount` to an address; the fee is the least that the chain takes unless given. Resolves with the txid. */
  transfer(transfer: Transfer): Promise<string>
  /** Registers the DID of an account. */
  createDid(create: CreateDid): Promise<SentOperation>
  /** Changes the document of the DID of an account; follows operations that wait for their block. */
  updateDid(update: UpdateDid): Promise<SentOperation>
  /** Ends a DID for good: that of the account, or another one whose document lists a key of it. */
  deactivateDid(deactivate: DidPayment & { readonly did?: string }): Promise<SentOperation>
  /** Puts an operation made by any tool on the chain, unchanged. Resolves with the txid. */
  publish(operation: DidOperationJson, payment: DidPayment): Promise<string>
}

export interface Transfer {
  readonly from: SigningAccount
  /** An address. */
  readonly to: string
  readonly amount: Amount
  readonly fee?: Amount
  /** Height below which the recipient cannot spend the coins. */
  readonly outputLock?: number
}

export interface DidPayment {
  /** Signs and, unless `payer` does, pays. */
  readonly account: SigningAccount
  readonly payer?: SigningAccount
  readonly fee?: Amount
}

export interface CreateDid extends DidPayment {
  readonly services?: readonly unknown[]
  /** `YYYY-MM-DDTHH:MM:SSZ`; five years from now when absent. */
  readonly expires?: string
  /** Who may deactivate the DID besides its own key; the recovery key of the account when absent. */
  readonly recovery?: RecoveryKey
}

export interface UpdateDid extends DidPayment, Partial<DocumentChanges> {}

export interface SentOperation {
  readonly did: string
  readonly txid: string
}

export interface NodePeers {
  /** Where others reach this node, as multiaddrs; none when it does not listen. */
  readonly addresses: readonly string[]
  /** Those that are connected. */
  list(): readonly Neighbor[]
  /** Connects to an address and comes back to it until {@link NodePeers.disconnect}; one that fails at first is not kept. */
  connect(address: string): Promise<Neighbor>
  /** Closes the connection to the peer of this id and opens none for ten minutes; false where there is none. */
  disconnect(id: number): boolean
}

/** How the vote on the next block goes. */
export interface NodeVoting {
  readonly height: number
  /** How many validators had their turn at this height before the present one. */
  readonly view: number
  readonly step: 'propose' | 'prevote' | 'precommit'
  /** Public key of the validator whose turn it is, hex. */
  readonly sponsor: string
  /** `yes`, `no-key`, `not-validator`, or the reason why this node does not vote. */
  readonly signing: string
  /** Set when two confirmed blocks of one height exist: this node does not vote any more. */
  readonly alarm?: string
}

/** A peer that is connected, or is not any more. */
export interface PeerChanged extends Neighbor {
  readonly action: 'joined' | 'left'
}

export interface NodeDevnet {
  /** Makes blocks and returns their hashes. */
  mine(blocks?: number): Promise<string[]>
  /** Moves the clock forward and returns the new time in Unix seconds. */
  increaseTime(seconds: number): Promise<number>
  /** Sets the time of the next block, Unix seconds. */
  setNextBlockTime(time: number): Promise<void>
  /** Sends coins from the faucet and returns the txid. */
  faucet(address: string, amount: Amount): Promise<string>
  /** Remembers chain, pool and clock; returns the number of the snapshot. */
  snapshot(): Promise<number>
  /** Takes chain, pool and clock back to a snapshot, which can be used again. */
  revert(snapshot: number): Promise<void>
}

/** An event with its number, which rises by one from event to event and is that of the WebSocket. */
export type Numbered<Event> = Event & { readonly number: number | null }

/**
 * What a node tells while it runs, by name. Changes of the chain come in its order, when they are on disk: what a block does
 * to DIDs, then the block.
 */
export interface NodeEventMap {
  readonly block: Numbered<BlockChanged>
  readonly transaction: Numbered<TransactionAccepted>
  readonly did: Numbered<DidChanged>
  readonly peer: PeerChanged
  /** How far the node is, about once a second while it learns the chain, and once when it has. */
  readonly sync: SyncProgress
  /** The node cannot go on; see {@link LedgerNode.failure}. */
  readonly error: Error
}

export interface NodeEvents {
  /** Calls `listener` from now on; the returned function ends that. What a listener throws, or rejects with, is logged. */
  on<Name extends keyof NodeEventMap>(name: Name, listener: (event: NodeEventMap[Name]) => void): () => void
}
