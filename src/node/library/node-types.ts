import type {
  BlockChanged,
  CredentialChanged,
  DidChanged,
  TransactionAccepted,
} from '../../ledger/events/ledger-event.js'
import type { Neighbor } from '../../network/peers/neighbor.js'
import type { SyncProgress } from '../../network/sync/sync-progress.js'
import type { Log } from '../../base/runtime/env.js'
import type { SigningAccount } from '../../clients/wallet/accounts.js'
import type { DocumentChanges, RecoveryKey } from '../../clients/wallet/did-identity.js'
import type { ShippedSpec } from './shipped.js'
import type { TuningOptions } from './tuning-options.js'

/** Types of createNode. Input amounts are units of 10^-8 as bigint, or coins as text: 250000000n is '2.5'. */

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
}

export interface ListenOptions {
  /** 20338 when absent; 0 takes a free one. */
  readonly port?: number
  /** IP addresses to listen on; all when absent. */
  readonly hosts?: readonly string[]
}

/** Which ids of a list. */
export interface CredentialPage {
  readonly skip?: number
  readonly limit?: number
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
  /** Key that may deactivate the DID besides its own key; the recovery key of the account when absent. */
  readonly recovery?: RecoveryKey
}

export interface UpdateDid extends DidPayment, Partial<DocumentChanges> {}

/** A peer that connected or disconnected. */
export interface PeerChanged extends Neighbor {
  readonly action: 'joined' | 'left'
}

/** An event with its number, which rises by one per event and is that of the WebSocket. */
export type Numbered<Event> = Event & { readonly number: number | null }

/** Events of a node by name. Changes of the chain come in order, once on disk: the DID changes of a block, then the block. */
export interface NodeEventMap {
  readonly block: Numbered<BlockChanged>
  readonly transaction: Numbered<TransactionAccepted>
  readonly did: Numbered<DidChanged>
  readonly credential: Numbered<CredentialChanged>
  readonly peer: PeerChanged
  /** Sync progress: about once a second during sync, and once at its end. */
  readonly sync: SyncProgress
  /** The node cannot continue; see `failure` of the node. */
  readonly error: Error
}

export interface NodeEvents {
  /** Calls `listener` from now on; the returned function ends that. Exceptions and rejections of a listener are logged. */
  on<Name extends keyof NodeEventMap>(name: Name, listener: (event: NodeEventMap[Name]) => void): () => void
}
