/** Answers of the node, as far as pages read them (docs/json-rpc.md). */

export interface Input {
  readonly txid: string
  readonly vout: number
  readonly sequence: number
}

export interface Output {
  readonly value: string
  readonly n: number
  readonly address: string
  readonly outputlock: number
}

export interface Operation {
  readonly header: { readonly specification: string; readonly operation: string; readonly previousTxid?: string }
  readonly payload: string
  readonly proof: { readonly type?: string; readonly verificationMethod: string; readonly signature: string }
}

export interface ShownTransaction {
  readonly txid: string
  readonly size: number
  readonly version: number
  readonly locktime: number
  readonly vin: readonly Input[]
  readonly vout: readonly Output[]
  readonly blockhash: string
  readonly confirmations: number
  readonly time: number
  readonly type: number
  readonly payloadversion: number
  readonly payload: Readonly<Record<string, unknown>>
  readonly attributes: readonly { readonly usage: number; readonly data: string }[]
  readonly programs: readonly { readonly code: string; readonly parameter: string }[]
}

export interface ShownBlock {
  readonly hash: string
  readonly confirmations: number
  readonly size: number
  readonly height: number
  readonly version: number
  readonly merkleroot: string
  readonly tx: readonly string[]
  readonly time: number
  readonly mediantime: number
  readonly nonce: number
  readonly bits: number
  readonly difficulty: string
  readonly chainwork: string
  readonly previousblockhash: string
  readonly nextblockhash: string
  readonly auxpow: string
}

export interface Confirm {
  readonly blockhash: string
  readonly sponsor: string
  readonly viewoffset: number
  readonly votes: readonly { readonly signer: string; readonly accept: boolean }[]
}

export interface ListedBlock {
  readonly height: number
  readonly hash: string
  readonly time: number
  readonly size: number
  readonly transactions: number
  readonly dids: number
  readonly proposer?: string
  readonly view?: number
}

export interface BlockList {
  readonly height: number
  readonly blocks: readonly ListedBlock[]
}

/** Cursor of the next page of a list. */
export interface Position {
  readonly height: number
  readonly index: number
}

export interface ListedOperation extends Position {
  readonly txid: string
  readonly blockhash: string
  readonly time: number
  readonly did: string
  readonly operation: string
  readonly signer?: string
  readonly credential?: string
}

export interface OperationList {
  readonly operations: readonly ListedOperation[]
  readonly next?: Position
}

export interface AddressHistory {
  readonly address: string
  readonly transactions: readonly (Position & {
    readonly txid: string
    readonly blockhash: string
    readonly time: number
    readonly kind: string
    readonly received: string
    readonly spent: string
    readonly fee?: string
  })[]
  readonly next?: Position
}

export interface Coin {
  readonly txid: string
  readonly txtype: number
  readonly vout: number
  readonly amount: string
  readonly outputlock: number
  readonly confirmations: number
}

export interface DidTransaction {
  readonly txid: string
  readonly timestamp: string
  readonly operation: Operation
}

export interface Resolution {
  readonly did: string
  readonly status: 0 | 1 | 2 | 3
  readonly transaction?: readonly DidTransaction[]
  readonly total?: number
  readonly start?: number
  readonly count?: number
  readonly context?: {
    readonly height: number
    readonly time: number
    readonly at: readonly { readonly height: number; readonly hash: string; readonly confirmations: number }[]
  }
}

export interface CredentialState {
  readonly id: string
  readonly status: 0 | 1 | 2 | 3
  readonly transaction?: readonly DidTransaction[]
}

export interface DidCount {
  readonly total: number
  readonly valid: number
  readonly deactivated: number
}

export interface Found {
  readonly total: number
  readonly start: number
  readonly count: number
  readonly document: readonly Readonly<Record<string, unknown>>[]
}
