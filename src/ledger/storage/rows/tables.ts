/**
 * Every row of the database: its number, the fields of its key, its value. The `*-tables.ts` beside it declare the rows, from which
 * keys are built and read (layout.ts: integers of keys are big-endian). No other file builds a key.
 *
 *   00 name in ASCII                               → see meta-rows.ts
 *   01 sequence u64                                → journal row
 *   02 block hash                                  → header record
 *   03 height u32                                  → hash of the active block
 *   04 height u32, index u16                       → transaction bytes
 *   05 block hash                                  → body of a block off the active chain
 *   06 txid                                        → height u32, index u16
 *   07 block hash                                  → confirm bytes
 *   08 txid, output u16                            → coin
 *   09 program hash, height u32, txid, output u16  → value i64
 *   0a program hash                                → sum u64, count u32
 *   0b program hash, height u32, index u16         → (empty): a transaction that touched the address
 *   0c height u32                                  → undo record
 *   0d program hash of the DID                     → head
 *   0e program hash of the DID, number u32         → operation, and digest of the history up to it
 *   0f height u32, index u16 of the DID's create operation → latest document of that DID: JSON text
 *   10 number u64                                  → left branch with transactions not back in the pool: tip, fork height u32
 *   13 SHA-256 of `vc`, 00, id of the credential, 00, DID of the signer → what that DID said of the credential: state u8,
 *                                                    count u8, operations
 *   14 program hash of the holder, number u32      → fragment of a credential that the holder declared: text
 *   15 program hash of the holder                  → number of its declares u32; no row for 0
 *   16 ordinal u32                                 → the key of 0f
 *   17 token, chunk u24 (ordinal divided by 256)   → postings of 256 ordinals (identity/did-index/posting-chunk.ts); no row for none
 *   18 token, not of kinds 5, 6 and 8              → number of documents u32; no row for 0
 *   19 height u32                                  → rows of 16, 17 and 18 that the block changed, as they were before
 *   1a depth u8 (0, 4 … 252), the first bits of a key in ⌈depth/8⌉ bytes, unused bits 0 → page of the map of DIDs (map/map-page.ts)
 *   1b key of the page, height u32                 → that page before the block at this height; empty: there was none
 *   1c height u32                                  → map root after the block, then the keys of the pages that it changed
 *   1d hash of the genesis block of a side chain   → height of its latest block of which a block has a proof of work u32
 *   1e day u32                                     → counters of the blocks of that day since 1970
 *   1f height u32, index u16                       → hashes of a transaction that is not in 04 any more, since its document was superseded
 *   20 txid                                        → pooled transaction: arrival u64, bytes
 *   21 txid                                        → why a pooled transaction was dropped: ff, order u64, text
 *   22 public key of the peer                      → facts about the peer and its address (network/)
 *   23 public key of a peer, or a host in UTF-8    → end and reason of its ban (network/)
 *   24 block hash                                  → body of a block in the vote (voting/)
 *   25 height u32, view u32, kind u8, key of the validator 33 → two contradicting messages of one validator (voting/)
 *   27 program hash of the holder, height u32, index u16 → fragment of a credential that it declared, while a state is taken
 *   f0 sequence u64                                → changes of a batch for shards (outbox-row.ts)
 *
 * A checksum follows each value (sealed-row.ts). docs/schema.md has the same table, with the values in full.
 */
import { chainTables, type Location } from './chain-tables.js'
import { coinTables } from './coin-tables.js'
import { didTables } from './did-tables.js'
import { indexTables } from './index-tables.js'
import { joinTables } from './join-tables.js'
import { journal } from './journal-row.js'
import type { Key } from './layout.js'
import { mapTables } from './map-tables.js'
import { metaTable } from './meta-rows.js'
import { networkTables } from './network-tables.js'
import { outbox } from './outbox-row.js'

export type { Key } from './layout.js'
export { rangeOf } from './layout.js'
export { meta, schemaVersion } from './meta-rows.js'
export type * from './chain-tables.js'
export { dayCounters } from './chain-tables.js'
export type * from './coin-tables.js'
export type * from './did-tables.js'
export type { MapPlace } from './map-tables.js'
export type { OutboxRow } from './outbox-row.js'
export type * from './undo-record.js'

export const tables = {
  meta: metaTable,
  journal,
  ...chainTables,
  ...coinTables,
  ...didTables,
  ...indexTables,
  ...mapTables,
  ...networkTables,
  ...joinTables,
  outbox,
}

/** Tables that are byte for byte equal on every node with the same tip: the state digest covers them. */
export const stateTables = [tables.coin, tables.didHead, tables.didOperation, tables.credential].map(numberOf)
/** Tables that follow from the active chain alone: a full verification rebuilds and compares them. */
export const derivedTables = [
  tables.active,
  tables.transaction,
  tables.location,
  tables.coin,
  tables.addressCoin,
  tables.balance,
  tables.history,
  tables.undo,
  tables.didHead,
  tables.didOperation,
  tables.didDocument,
  tables.credential,
  tables.declared,
  tables.declaredCount,
  tables.ordinal,
  tables.posting,
  tables.tokenCount,
  tables.mapPage,
  tables.day,
].map(numberOf)

function numberOf({ number }: { readonly number: number }): number {
  return number
}

/** The transactions of one height before the one of an index. */
export function transactionsBefore({ height, index }: Location): { gte: Key; lt: Key } {
  return { gte: tables.transaction.key(height, 0), lt: tables.transaction.key(height, index) }
}

/** The transactions that touched an address, from a height on; with `before` those below that position. */
export function historyRange(
  owner: Uint8Array,
  { before, from = 0 }: { readonly before?: Location | undefined; readonly from?: number } = {},
): { gte: Key; lt: Key } {
  const { lt } = tables.history.range(owner)
  return {
    gte: tables.history.key(owner, from, 0),
    lt: before === undefined ? lt : tables.history.key(owner, before.height, before.index),
  }
}
