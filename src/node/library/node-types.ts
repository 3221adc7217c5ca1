import type {
  CredentialList,
  CredentialOptions,
  CredentialResult,
  DocumentQuery,
  QueryResult,
  ResolveOptions,
  ResolveResult,
} from '../../identity/did/resolution.js'
import type {
  BlockChanged,
  CredentialChanged,
  DidChanged,
  Numbered,
  TransactionAccepted,
  DocumentSelection,
  DocumentsChanged,
  DocumentsUntold,
} from '../../base/primitives/chain-event.js'
import type { Neighbor } from '../../network/peers/neighbor.js'
import type { SyncProgress } from '../../network/sync/sync-progress.js'
import type { Block } from '../../base/primitives/block.js'
import type { DidOperationJson } from '../../base/primitives/did-operation.js'
import type { Transaction } from '../../base/primitives/transaction.js'
import type { KeyInput } from '../../base/crypto/key-forms.js'
import type { Log } from '../../base/runtime/env.js'
import type { Standing } from '../../answers/resolver/standing.js'
import type { SigningAccount } from '../../clients/wallet/accounts.js'
import type { NewCredential, SignedBy } from '../../clients/wallet/issue-credential.js'
import type { NewPresentation } from '../../clients/wallet/present-credentials.js'
import type { CredentialFormat } from '../../identity/credentials/signed-credential.js'
import type { DocumentChanges, NewIdentity, RecoveryKey } from '../../clients/wallet/did-identity.js'
import type { ShippedSpec } from './shipped.js'
import type { TuningOptions } from './tuning-options.js'

/**
 * Types of createNode. They do not follow from the functions that make a node: a program that imports them would need types of Node
 * for all that is behind those. Input amounts are units of 10^-8 as bigint, or coins as text: 250000000n is '2.5'.
 */

export type Amount = bigint | string

export interface CreateNodeOptions {
  /** A chain spec that comes with the package. Exactly one of this and `spec`. */
  readonly network?: ShippedSpec
  /** A chain spec: its JSON text, or the parsed object. */
  readonly spec?: string | Readonly<Record<string, unknown>>
  /** Directory of the chain; absent: a temporary directory, removed with the node. */
  readonly dataDir?: string
  /** REST, JSON-RPC and WebSocket; no server when absent. `true` takes the ports and addresses of the command. */
  readonly api?: boolean | ApiOptions
  /** When a devnet makes blocks: at once (`auto`, the default), on demand (`manual`), or every so many seconds. */
  readonly mining?: 'auto' | 'manual' | { readonly seconds: number }
  /** Number of funded accounts of a devnet, 1 to 100; ten when absent. */
  readonly accounts?: number
  /** BIP-39 words from which these accounts come; those of every devnet when absent. */
  readonly mnemonic?: string
  /** Least balance of each of these accounts at the start; 10 000 coins when absent. */
  readonly balance?: Amount
  /** Number of DIDs that a devnet registers at the start. */
  readonly seedDids?: number
  /** On a chain without validators: mine, and pay this address. With `validatorKey`: the address that own blocks pay. */
  readonly mineTo?: string
  /** Nodes to connect to, again after each loss: `host:port`, or a multiaddr as nodes print it. May be empty. */
  readonly peers?: readonly string[]
  /** Accepts connections of other nodes. `true` takes the port and the addresses of the command. No listener when absent. */
  readonly listen?: boolean | ListenOptions
  /** Find nodes in the local network by multicast DNS, and be found there. */
  readonly mdns?: boolean
  /** `HEIGHT:HASH` of a block: signatures up to it are trusted once it is on the chain that peers prove. */
  readonly assumeValid?: string
  /** On a chain with validators: vote with this key, 32 bytes or 64 hex digits. Needs `dataDir`; for no other node. */
  readonly validatorKey?: Uint8Array | string
  /** On a chain with validators: vote with the key of `didledger signer` behind the socket at this path. */
  readonly validatorSigner?: string
  /** Vote although it is unknown what the key has signed: from the next block on, or at the open one. */
  readonly resetSignState?: 'next' | 'now'
  /** Sizes and limits that have good defaults, by section and name as in a configuration file. */
  readonly tuning?: TuningOptions
  /** Log of the node, in the form of a pino logger; silent when absent. */
  readonly log?: Log
}

export interface ApiOptions {
  /** REST listens on this and 4, WebSocket on 5, JSON-RPC on 6; 0 takes free ports. 20330 when absent. */
  readonly portBase?: number
  /** Addresses to listen on; loopback alone when absent. */
  readonly hosts?: readonly string[]
  /** Origins of pages that may use a devnet as its own pages do, such as `http://localhost:5173`. */
  readonly allowOrigins?: readonly string[]
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
  /** Progress of the node's sync, now. */
  readonly sync: SyncProgress
  /**
   * Whether the node is in step with its chain, so that it may say what is so now, and what does not exist; now. Out of step the
   * resolver rejects with `resolver-behind`, and `missing` says why.
   */
  readonly standing: Standing
  /**
   * Resolves when a peer is connected and none is known to have more; at once for a node without peers. Rejects after `timeout`
   * milliseconds (120 000) without progress.
   */
  synced(options?: { readonly timeout?: number }): Promise<void>
  /** Undefined unless `peers`, `listen` or `mdns` asked for them. */
  readonly peers: NodePeers | undefined
  /** State of the vote on the next block; undefined on a chain without validators, and on a devnet. */
  readonly voting: NodeVoting | undefined
  /** Undefined on any chain but a devnet. */
  readonly devnet: NodeDevnet | undefined
  /** Base URLs; undefined without `api`. */
  readonly api: { readonly rest: string; readonly rpc: string; readonly ws: string } | undefined
  /** Rejects when the node cannot continue, for example after a failed write; close it then. Never resolves. */
  readonly failure: Promise<never>
  /** Ends everything that the node started. May be called again. */
  close(): Promise<void>
}

export interface NodeResolver {
  /** The state of a DID, given in full or as the identifier alone, with the operations and the context asked for. */
  resolve(did: string, options?: ResolveOptions): Promise<ResolveResult>
  /** The current documents that match; deactivated DIDs have none. */
  query(query: DocumentQuery): Promise<QueryResult>
  /** State of a credential, by its id in full; a revoke by `issuer` counts before a declare as well. */
  resolveCredential(id: string, options?: CredentialOptions): Promise<CredentialResult>
  /** Ids of the credentials that a DID declared, oldest first: 128 from `skip` on, or as many as `limit`, at most 256. */
  listCredentials(did: string, options?: CredentialPage): Promise<CredentialList>
}

/** Which ids of a list. */
export interface CredentialPage {
  readonly skip?: number
  readonly limit?: number
}

export interface NodeChain {
  readonly height: number
  readonly tip: ChainTip
  /** Hash of the first block, display hex. */
  readonly genesis: string
  /** A block of the active chain by height, or any stored block by hash (display hex). */
  block(heightOrHash: number | string): Promise<Block | undefined>
  /** On a chain with validators: the confirm of a stored block, by hash; for `acceptBlock`. */
  confirm(hash: string): Uint8Array | undefined
  /** A transaction of the active chain. */
  transaction(txid: string): MinedTransaction | undefined
  /** Resolves when a transaction is in a block. Rejects when the pool drops it, or after `timeout` milliseconds (120 000). */
  waitFor(txid: string, options?: { readonly timeout?: number }): Promise<MinedTransaction>
  /** The sum of the unspent outputs of an address, in units of 10^-8. */
  balance(address: string): bigint
  /** The unspent outputs of an address, oldest first. */
  coins(address: string): Promise<UnspentOutput[]>
  /** Accepts a block, and on a chain with validators its confirm. Rejects with the rule that it breaks. */
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
  /**
   * Accepts a signed transaction, as bytes or hex; resolves with its txid once it is on disk. `replace` as false: it takes the place of no
   * waiting transaction that spends the same, whatever it pays.
   */
  send(transaction: Transaction | Uint8Array | string, options?: { readonly replace?: boolean }): Promise<string>
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

/** Builds, signs and sends with keys of the caller. Every method resolves once the pool has the transaction. */
export interface NodeWallet {
  /** The funded accounts of a devnet, whose keys are public; empty on any other chain. */
  readonly accounts: readonly SigningAccount[]
  /** Account `index` of a devnet. */
  account(index: number): SigningAccount
  /** Pays `amount` to an address; the fee is the least that the node takes unless given. Resolves with the txid. */
  transfer(transfer: Transfer): Promise<string>
  /**
   * Joins the coins of a payer, so that one transfer can spend more of them: as many transactions as that takes. Resolves with their
   * txids.
   */
  merge(merge: { readonly from: SigningAccount; readonly fee?: Amount }): Promise<readonly string[]>
  /**
   * Sends a transaction that waits for a block once more with a higher fee, by default the least that replaces it: out of its change, else
   * with further coins. `fee` or `feeRate`, in units of 10^-8 for a byte. Resolves with the txid of the one that takes its place.
   */
  bump(bump: Replaced & { readonly fee?: Amount; readonly feeRate?: number }): Promise<string>
  /** Takes back a transaction that waits: sends its coins to their owner. Resolves with the txid of the one that takes its place. */
  cancel(cancel: Replaced): Promise<string>
  /** Registers the DID of an account. */
  createDid(create: CreateDid): Promise<SentOperation>
  /** Changes the document of the DID of an account; builds on operations that wait for their block. */
  updateDid(update: UpdateDid): Promise<SentOperation>
  /** Ends a DID permanently: that of the account, or another one whose document lists a key of it. */
  deactivateDid(deactivate: SignedFor): Promise<SentOperation>
  /** Declares a signed credential, JSON text or object, whose holder is the DID of the account, or `did`. */
  declareCredential(declare: SignedFor & { readonly credential: string | object }): Promise<SentOperation>
  /** Revokes the credential with an id in full, in the name of the DID of the account, or of `did`. */
  revokeCredential(revoke: SignedFor & { readonly id: string }): Promise<SentOperation>
  /**
   * Signs a credential in the name of the DID of the account, or of `did`; nothing is sent. Returns JSON text that its holder can declare, or
   * with the format `jwt` a W3C credential as JWT.
   */
  issueCredential(issue: CredentialSigner & NewCredential & { readonly format?: CredentialFormat }): string
  /** Signs a presentation of credentials, all JSON texts or all JWT, by their holder: the DID of the account, or `did`. */
  presentCredentials(present: CredentialSigner & NewPresentation): string
  /** Puts an operation made by any tool on the chain, unchanged. Resolves with the txid. */
  publish(operation: DidOperationJson, payment: DidPayment): Promise<string>
}

/** The DID in whose name something is signed: of the account, or another one by a key of it. */
export interface CredentialSigner extends Pick<SignedBy, 'account' | 'signWith'> {
  readonly did?: string
}

export interface Transfer {
  readonly from: SigningAccount
  /** An address. */
  readonly to: string
  /** `all`: what the payer has, less the fee. */
  readonly amount: Amount | 'all'
  readonly fee?: Amount
  /** Whether the fee is taken out of the amount, and not paid beside it. */
  readonly feeFromAmount?: boolean
  /** Height below which the recipient cannot spend the coins. */
  readonly outputLock?: number
}

/** A transaction that waits. */
export interface Replaced {
  /** Its payer; found among the accounts of a devnet when absent. */
  readonly from?: SigningAccount
  readonly txid: string
}

export interface DidPayment {
  /** Signs and, unless `payer` does, pays. */
  readonly account: SigningAccount
  readonly payer?: SigningAccount
  readonly fee?: Amount
}

export interface CreateDid extends DidPayment, Partial<Pick<NewIdentity, 'services' | 'keyAgreement' | 'alsoKnownAs'>> {
  /** `YYYY-MM-DDTHH:MM:SSZ`; five years from now when absent. */
  readonly expires?: string
  /** Key that may deactivate the DID besides its own key; the recovery key of the account when absent. */
  readonly recovery?: RecoveryKey
}

/** An operation that another key of the DID than the account's may sign. */
export interface SignedPayment extends DidPayment {
  /** A private key of the DID, in any form, that signs the operation; the account pays. */
  readonly signWith?: KeyInput
}

/** {@link SignedPayment} of a DID; that of the account when absent. */
export interface SignedFor extends SignedPayment {
  readonly did?: string
}

export interface UpdateDid extends SignedPayment, DocumentChanges {}

export interface SentOperation {
  readonly did: string
  readonly txid: string
}

export interface NodePeers {
  /** Addresses at which other nodes reach this one, as multiaddrs; none when it does not listen. */
  readonly addresses: readonly string[]
  /** The connected peers. */
  list(): readonly Neighbor[]
  /** Connects to an address and, until {@link NodePeers.disconnect}, reconnects; an address that fails at first is not kept. */
  connect(address: string): Promise<Neighbor>
  /** Closes the connection to the peer of this id and opens none for ten minutes; false if there is no such peer. */
  disconnect(id: number): boolean
}

/** State of the vote on the next block. */
export interface NodeVoting {
  readonly height: number
  /** Number of views at this height before the present one. */
  readonly view: number
  readonly step: 'propose' | 'prevote' | 'precommit'
  /** Public key of the proposer of the view, hex. */
  readonly sponsor: string
  /** `yes`, `no-key`, `not-validator`, or the reason why this node does not vote. */
  readonly signing: string
  /** Set when two confirmed blocks of one height exist: this node does not vote any more. */
  readonly alarm?: string
  /** Set while the chain does not advance. */
  readonly stalled?: ChainStalled
}

/** Report that the chain does not advance at this node. */
export interface ChainStalled {
  /** Votes of fewer than a quorum arrive, or the tip is older than the pace of the chain allows. */
  readonly reason: 'no-quorum' | 'tip-old'
  /** Unix seconds at which the node noticed it. */
  readonly since: number
  /** A sentence for people; it names missing validators. */
  readonly detail: string
}

/** A peer that connected or disconnected. */
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
  /** Saves chain, pool and clock; returns the number of the snapshot. */
  snapshot(): Promise<number>
  /** Takes chain, pool and clock back to a snapshot, which can be used again. */
  revert(snapshot: number): Promise<void>
}

export type { Numbered }

/** Events of a node by name. Changes of the chain come in order, once on disk: the DID changes of a block, then the block. */
export interface NodeEventMap {
  readonly block: Numbered<BlockChanged>
  readonly transaction: Numbered<TransactionAccepted>
  readonly did: Numbered<DidChanged>
  readonly credential: Numbered<CredentialChanged>
  readonly peer: PeerChanged
  /** Sync progress: about once a second during sync, and once at its end. */
  readonly sync: SyncProgress
  /** The node cannot continue; see {@link LedgerNode.failure}. */
  readonly error: Error
}

/** An event about documents that meet a condition; it comes before the event of its block, and has no number. */
export type DocumentEvent = Numbered<DocumentsChanged | DocumentsUntold>

export interface NodeEvents {
  /**
   * Calls `listener` from the next block on with what begins to meet a condition, changes while it does, or ceases to, until the returned
   * function is called. `query-invalid`, `request-parameter` or `overloaded` for a condition that cannot be followed.
   */
  documents(selection: DocumentSelection, listener: (event: DocumentEvent) => void): () => void
  /** Calls `listener` from now on; the returned function ends that. Exceptions and rejections of a listener are logged. */
  on<Name extends keyof NodeEventMap>(name: Name, listener: (event: NodeEventMap[Name]) => void): () => void
}
