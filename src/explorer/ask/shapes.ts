import type { Static } from '@sinclair/typebox'
import type * as blocks from '../../answers/api/schemas/block-schemas.js'
import type * as coins from '../../answers/api/schemas/coin-schemas.js'
import type * as chains from '../../answers/api/schemas/chain-schemas.js'
import type * as dids from '../../answers/api/schemas/did-schemas.js'
import type * as nodes from '../../answers/api/schemas/node-schemas.js'
import type * as transactions from '../../answers/api/schemas/transaction-schemas.js'

/** Answers of the node (docs/json-rpc.md), by the schemas that describe them; a page has no code of those. */

export type ShownTransaction = Static<typeof transactions.transactionObject>
export type Output = ShownTransaction['vout'][number]
export type Operation = Static<typeof transactions.storedOperation>
export type ShownBlock = Static<typeof blocks.blockWithIds>
export type WholeBlock = Static<typeof blocks.blockWithTransactions>
export type Confirm = Static<typeof blocks.confirmObject>
export type Voters = Static<typeof blocks.listedVoters>
export type BlockList = Static<typeof blocks.listedBlocks>
export type ListedBlock = BlockList['blocks'][number]
export type DayList = Static<typeof blocks.listedDays>
export type CountedDay = DayList['days'][number]
export type OperationList = Static<typeof dids.listedOperations>
export type ListedOperation = OperationList['operations'][number]
/** Cursor of the next page of a list. */
export type Position = NonNullable<OperationList['next']>
export type AddressHistory = Static<typeof transactions.addressHistorySchema>
export type Coin = Static<typeof coins.listedCoins>[number]
export type ChainInfo = Static<typeof chains.chainInfoSchema>
export type DidCount = Static<typeof dids.didCountSchema>
export type Found = Static<typeof dids.queryResult>
export type ArbitersInfo = Static<typeof nodes.arbitersInfo>
/** An account of a devnet that has coins from the start. */
export interface DevnetAccount {
  readonly index: number
  readonly address: string
  readonly did: string
  readonly publicKey: string
  readonly balance: string
}
/** The secrets of these accounts. */
export interface DevnetKeys {
  readonly mnemonic: string
  readonly keys: readonly { readonly index: number; readonly privateKey: string; readonly recoveryKey?: string }[]
}
export type SyncStatus = Static<typeof nodes.syncStatus>
