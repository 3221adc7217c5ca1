/** Topics of events: blocks of the active chain, transactions accepted into the pool, operations on the chain. */
export const eventTopics = ['block', 'transaction', 'did', 'credential'] as const
/** The same, and the one that takes a condition: documents that begin to meet it, change, or cease to meet it. */
export const subscribedTopics = [...eventTopics, 'documents'] as const
export type EventTopic = (typeof subscribedTopics)[number]

/** `apply`: it holds from now on; `revert`: an earlier event holds no longer. */
export type Action = 'apply' | 'revert'

/** A block became the tip, or ceased to be it. Hashes in display hex. */
export interface BlockChanged {
  readonly topic: 'block'
  readonly action: Action
  readonly height: number
  readonly hash: string
  readonly previousblockhash: string
  /** Unix seconds. */
  readonly time: number
  /** Number of transactions, the coinbase included. */
  readonly transactions: number
}

/** An operation of a DID came onto the chain, or left it. */
export interface DidChanged {
  readonly topic: 'did'
  readonly action: Action
  readonly did: string
  readonly operation: string
  readonly txid: string
  readonly height: number
  readonly blockhash: string
}

/** A declare or revoke of a credential came onto the chain, or left it. */
export interface CredentialChanged {
  readonly topic: 'credential'
  readonly action: Action
  /** Absolute. */
  readonly id: string
  readonly operation: string
  /** The DID in whose name it was made. */
  readonly signer: string
  readonly txid: string
  readonly height: number
  readonly blockhash: string
}

/** The pool took a transaction. */
export interface TransactionAccepted {
  readonly topic: 'transaction'
  readonly action: 'apply'
  readonly txid: string
  readonly type: number
  /** Bytes. */
  readonly size: number
  /** Coins with eight decimals. */
  readonly fee: string
  /** Ids of transactions that left the pool for it, since it spends the same and pays more; absent: none. */
  readonly replaces?: readonly string[]
}

/** Effect of a block on one document, as a condition sees it. */
export const documentChanges = ['begins', 'changes', 'ceases'] as const
export type DocumentChangeKind = (typeof documentChanges)[number]

/**
 * A document begins to meet the condition of a subscription with a block, changes while it meets it, or ceases to meet it. `revert`: the
 * block was taken back, so that the opposite holds again.
 */
export interface DocumentsChanged {
  readonly topic: 'documents'
  readonly action: Action
  readonly change: DocumentChangeKind
  readonly did: string
  /** The last operation of the DID in the block. */
  readonly operation: string
  readonly txid: string
  readonly height: number
  readonly blockhash: string
}

/** Changes of a block were not worked out for a subscription, whose condition is too much work with the others. */
export interface DocumentsUntold {
  readonly topic: 'documents'
  readonly action: Action
  readonly change: 'untold'
  readonly code: 'overloaded'
  readonly height: number
  readonly blockhash: string
}

/** Events that a node numbers. */
export type ChainEventData = BlockChanged | DidChanged | CredentialChanged | TransactionAccepted
export type EventData = ChainEventData | DocumentsChanged | DocumentsUntold

/** Documents to follow: exactly one member. `dids`: these documents, whatever is in them; the others as of a search. */
export interface DocumentSelection {
  readonly query?: string | object
  readonly service?: string
  readonly credential?: string
  readonly dids?: readonly string[]
}

/** An event with its number, which rises by one per event while the node runs; null for an event replayed from the blocks. */
export type Numbered<Event> = Event & { readonly number: number | null }
