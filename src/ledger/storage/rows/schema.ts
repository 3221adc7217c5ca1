import type { Token } from '../../../identity/did-index/token.js'
import type { ProgramHash } from '../../../base/primitives/address.js'
import { asBuffer, mapKey } from '../../../base/primitives/bytes.js'
import type { Hash } from '../../../base/primitives/hash.js'
import { outpointKey, outputIndexOf } from '../../../base/primitives/input.js'
import type { Outpoint } from '../../../base/primitives/transaction-fields.js'
import type { MapKey } from '../../../identity/proofs/map-tree.js'

/**
 * Every row of the database, and the form of its key. No other file builds one.
 *
 * Keys begin with a table byte and are big-endian, so that rows sort by their fields. Values are little-endian, in the
 * codec of the chain (row-values.ts); a checksum follows each, which database.ts adds and removes. Table numbers are never
 * reused. docs/schema.md has the same table.
 *
 *   00 name                                       → meta: schema version, tip, digest of the upgrades up to it, a devnet's
 *                                                   clock offset, event number, assumed valid height, reorganisation,
 *                                                   highest block that gave up its transactions u32, whether the map of
 *                                                   DIDs is complete, lowest height of which it proves anything u32,
 *                                                   height up to which blocks have no rows 1b any more u32, number of the
 *                                                   rules by which blocks were checked u8
 *   01 sequence u64                               → journal row (journal.ts)
 *   02 block hash                                 → header record
 *   03 height u32                                 → hash of the active block
 *   04 height u32, index u16                      → transaction bytes
 *   05 block hash                                 → body of a block off the active chain
 *   06 txid                                       → height u32, index u16
 *   07 block hash                                 → confirm bytes
 *   08 txid, output u16                           → coin
 *   09 program hash, height u32, txid, output u16 → value i64
 *   0a program hash                               → sum u64, count u32
 *   0b program hash, height u32, index u16        → (empty): a transaction that touched the address
 *   0c height u32                                 → undo record
 *   0d DID program hash                           → head
 *   0e DID program hash, sequence u32             → operation, and digest of the history up to it
 *   0f height u32, index u16                      → latest document of the DID created there: JSON text
 *   10 number u64                                 → left branch with transactions not back in the pool: tip, fork height u32
 *   13 credential and signer (credentialMapKey)    → what that DID said of the credential: state u8, count u8, operations
 *   14 holder program hash, sequence u32           → fragment of a credential that the holder declared: text
 *   15 holder program hash                         → number of its declares u32; no row for 0
 *   16 ordinal u32                                → height u32, index u16 of the create: the key of 0f
 *   17 token, chunk u24                           → postings of 256 ordinals (identity/did-index/posting-chunk.ts); no row for none
 *   18 token                                      → number of documents u32, of kinds that are counted; no row for 0
 *   19 height u32                                 → rows of 16, 17 and 18 that the block changed, as they were before
 *   1a depth u8, first bits of a map key          → page of the map of DIDs (map/map-page.ts)
 *   1b the same, height u32                       → that page before the block at this height; empty: there was none
 *   1c height u32                                 → map root after the block, then the keys of the pages that it changed
 *   1d genesis hash of a side chain               → height of its latest block of which a block has a proof of work u32
 *   20 txid                                       → pooled transaction: arrival u64, bytes
 *   21 txid                                       → why a pooled transaction was dropped: ff, order u64, text
 *   22 peer key                                   → facts about a peer and its address (network/)
 *   23 peer key or site                           → end and reason of its ban (network/)
 *   24 block hash                                 → body of a block in the vote (voting/)
 *   25 height u32, view u32, kind u8, signer      → two contradicting messages of one validator (voting/)
 */
export const table = {
  meta: 0x00,
  journal: 0x01,
  header: 0x02,
  active: 0x03,
  transaction: 0x04,
  sideBody: 0x05,
  location: 0x06,
  confirm: 0x07,
  coin: 0x08,
  addressCoin: 0x09,
  balance: 0x0a,
  history: 0x0b,
  undo: 0x0c,
  didHead: 0x0d,
  didOperation: 0x0e,
  didDocument: 0x0f,
  leftBranch: 0x10,
  credential: 0x13,
  declared: 0x14,
  declaredCount: 0x15,
  ordinal: 0x16,
  posting: 0x17,
  tokenCount: 0x18,
  indexUndo: 0x19,
  mapPage: 0x1a,
  mapPageBefore: 0x1b,
  mapRoot: 0x1c,
  sideChain: 0x1d,
  pool: 0x20,
  dropped: 0x21,
  peer: 0x22,
  ban: 0x23,
  candidate: 0x24,
  evidence: 0x25,
} as const

export const schemaVersion = 4

/** Tables that are byte for byte equal on every node with the same tip: the state digest covers them. */
export const stateTables = [table.coin, table.didHead, table.didOperation, table.credential] as const
/** Tables that follow from the active chain alone: a full verification rebuilds and compares them. */
export const derivedTables = [
  table.active,
  table.transaction,
  table.location,
  table.coin,
  table.addressCoin,
  table.balance,
  table.history,
  table.undo,
  table.didHead,
  table.didOperation,
  table.didDocument,
  table.credential,
  table.declared,
  table.declaredCount,
  table.ordinal,
  table.posting,
  table.tokenCount,
  table.mapPage,
] as const

export type Key = Buffer

function key(tableByte: number, size: number): Buffer {
  const buffer = Buffer.allocUnsafe(1 + size)
  buffer[0] = tableByte
  return buffer
}

function keyOf(tableByte: number, bytes: Uint8Array): Key {
  const buffer = key(tableByte, bytes.length)
  buffer.set(bytes, 1)
  return buffer
}

function heightIndexKey(tableByte: number, height: number, index: number): Key {
  const buffer = key(tableByte, 6)
  buffer.writeUInt32BE(height, 1)
  buffer.writeUInt16BE(index, 5)
  return buffer
}

function heightKey(tableByte: number, height: number): Key {
  const buffer = key(tableByte, 4)
  buffer.writeUInt32BE(height, 1)
  return buffer
}

function programHashSequenceKey(tableByte: number, programHash: ProgramHash, sequence: number): Key {
  const buffer = key(tableByte, 25)
  buffer.set(programHash, 1)
  buffer.writeUInt32BE(sequence, 22)
  return buffer
}

/** A page of the map of DIDs: it holds what lies below the first `depth` bits of a key. */
export interface MapPlace {
  /** A multiple of 4, from 0 to 252. */
  readonly depth: number
  readonly key: MapKey
}

/** Fills keys of rows that every transfer changes, behind their table byte; outpoints by their `outpointKey`. */
export const fill = {
  coin: (into: Key, outpoint: string): Key => putOutpoint(into, 1, outpoint),
  addressCoin: (into: Key, owner: string, height: number, outpoint: string): Key => {
    into.write(owner, 1, 'latin1')
    into.writeUInt32BE(height, 22)
    return putOutpoint(into, 26, outpoint)
  },
  history: (into: Key, owner: string, height: number, index: number): Key => {
    into.write(owner, 1, 'latin1')
    into.writeUInt32BE(height, 22)
    into.writeUInt16BE(index, 26)
    return into
  },
}

function putOutpoint(into: Key, at: number, outpoint: string): Key {
  into.write(outpoint, at, 32, 'latin1')
  into.writeUInt16BE(outputIndexOf(outpoint), at + 32)
  return into
}

export const keys = {
  meta: (
    name:
      | 'version'
      | 'upgrades'
      | 'tip'
      | 'clock'
      | 'events'
      | 'assumed'
      | 'reorganisation'
      | 'indexUndo'
      | 'pruned'
      | 'didMap'
      | 'proofs'
      | 'dropped'
      | 'rules',
  ): Key => keyOf(table.meta, Buffer.from(name)),
  journal: (sequence: number): Key => {
    const buffer = key(table.journal, 8)
    buffer.writeBigUInt64BE(BigInt(sequence), 1)
    return buffer
  },
  header: (hash: Hash): Key => keyOf(table.header, hash),
  active: (height: number): Key => heightKey(table.active, height),
  transaction: (height: number, index: number): Key => heightIndexKey(table.transaction, height, index),
  sideBody: (hash: Hash): Key => keyOf(table.sideBody, hash),
  location: (txid: Hash): Key => keyOf(table.location, txid),
  confirm: (hash: Hash): Key => keyOf(table.confirm, hash),
  coin: (outpoint: Outpoint): Key => fill.coin(key(table.coin, 34), outpointKey(outpoint)),
  addressCoin: (programHash: ProgramHash, height: number, outpoint: Outpoint): Key =>
    fill.addressCoin(key(table.addressCoin, 59), mapKey(programHash), height, outpointKey(outpoint)),
  balance: (programHash: ProgramHash): Key => keyOf(table.balance, programHash),
  history: (programHash: ProgramHash, height: number, index: number): Key =>
    fill.history(key(table.history, 27), mapKey(programHash), height, index),
  undo: (height: number): Key => heightKey(table.undo, height),
  didHead: (did: ProgramHash): Key => keyOf(table.didHead, did),
  didOperation: (did: ProgramHash, sequence: number): Key => programHashSequenceKey(table.didOperation, did, sequence),
  /** By the position of the DID's create operation, so that documents sort by age. */
  didDocument: (create: Location): Key => heightIndexKey(table.didDocument, create.height, create.index),
  credential: (mapKey: MapKey): Key => keyOf(table.credential, mapKey),
  declared: (holder: ProgramHash, sequence: number): Key => programHashSequenceKey(table.declared, holder, sequence),
  declaredCount: (holder: ProgramHash): Key => keyOf(table.declaredCount, holder),
  ordinal: (ordinal: number): Key => {
    const buffer = key(table.ordinal, 4)
    buffer.writeUInt32BE(ordinal, 1)
    return buffer
  },
  posting: (token: Token, chunk: number): Key => {
    const buffer = key(table.posting, token.length + 3)
    buffer.write(token, 1, 'latin1')
    buffer.writeUIntBE(chunk, 1 + token.length, 3)
    return buffer
  },
  tokenCount: (token: Token): Key => keyOf(table.tokenCount, Buffer.from(token, 'latin1')),
  indexUndo: (height: number): Key => heightKey(table.indexUndo, height),
  /** By depth and the first bits of the keys below it. */
  mapPage: ({ depth, key: mapKey }: MapPlace): Key => {
    const bytes = (depth + 7) >> 3
    const buffer = key(table.mapPage, 1 + bytes)
    buffer[1] = depth
    buffer.set(mapKey.subarray(0, bytes), 2)
    if (depth % 8 !== 0) buffer[1 + bytes] = (buffer[1 + bytes] as number) & 0xf0
    return buffer
  },
  /** A page by its key without table byte, as rows of table mapRoot hold it. */
  mapPageOf: (bytes: Uint8Array): Key => keyOf(table.mapPage, bytes),
  /** By the key of the page. */
  mapPageBefore: (page: Key, height: number): Key => {
    const buffer = key(table.mapPageBefore, page.length + 3)
    buffer.set(page.subarray(1), 1)
    buffer.writeUInt32BE(height, page.length)
    return buffer
  },
  mapRoot: (height: number): Key => heightKey(table.mapRoot, height),
  /** By the hash of the genesis block of the side chain. */
  sideChain: (genesis: Uint8Array): Key => keyOf(table.sideChain, genesis),
  /** By a rising number: the same branch may be left twice. */
  leftBranch: (number: number): Key => {
    const buffer = key(table.leftBranch, 8)
    buffer.writeBigUInt64BE(BigInt(number), 1)
    return buffer
  },
  pool: (txid: Hash): Key => keyOf(table.pool, txid),
  dropped: (txid: Hash): Key => keyOf(table.dropped, txid),
  /** By the 32-byte public key of the peer. */
  peer: (publicKey: Uint8Array): Key => keyOf(table.peer, publicKey),
  /** By the 32-byte public key of the peer, or by the text of its host. */
  ban: (subject: Uint8Array): Key => keyOf(table.ban, subject),
  candidate: (hash: Hash): Key => keyOf(table.candidate, hash),
  evidence: (height: number, view: number, kind: number, signer: Uint8Array): Key => {
    const buffer = key(table.evidence, 9 + signer.length)
    buffer.writeUInt32BE(height, 1)
    buffer.writeUInt32BE(view, 5)
    buffer.writeUInt8(kind, 9)
    buffer.set(signer, 10)
    return buffer
  },
}

/** All keys that begin with a table byte and, if given, further bytes. */
export function rangeOf(tableByte: number, start: Uint8Array = new Uint8Array(0)): { gte: Key; lt: Key } {
  const gte = keyOf(tableByte, start)
  const lt = Buffer.from(gte)
  for (let i = lt.length - 1; i >= 0; i--) {
    lt[i] = ((lt[i] as number) + 1) & 0xff
    if (lt[i] !== 0) break
  }
  return { gte, lt }
}

/** The transactions of one height. */
export function transactionRange(height: number): { gte: Key; lt: Key } {
  return rangeOf(table.transaction, heightKey(0, height).subarray(1))
}

/** The transactions of one height before the one of an index. */
export function transactionsBefore({ height, index }: Location): { gte: Key; lt: Key } {
  return { gte: keys.transaction(height, 0), lt: keys.transaction(height, index) }
}

/** The transactions that touched an address, from a height on; with `before` those below that position. */
export function historyRange(
  programHash: ProgramHash,
  { before, from = 0 }: { readonly before?: Location | undefined; readonly from?: number } = {},
): { gte: Key; lt: Key } {
  const { lt } = rangeOf(table.history, programHash)
  return {
    gte: keys.history(programHash, from, 0),
    lt: before === undefined ? lt : keys.history(programHash, before.height, before.index),
  }
}

/** The undo records from one height on, below another. */
export function undoRange(from: number, below: number): { gte: Key; lt: Key } {
  return { gte: keys.undo(from), lt: keys.undo(below) }
}

/** The position at the end of a key of a transaction or of a history. */
export function positionInKey(keyBytes: Uint8Array): Location {
  const buffer = asBuffer(keyBytes)
  return { height: buffer.readUInt32BE(buffer.length - 6), index: buffer.readUInt16BE(buffer.length - 2) }
}

/** The height in the key of an undo record. */
export function heightOfUndoKey(keyBytes: Uint8Array): number {
  return asBuffer(keyBytes).readUInt32BE(1)
}

/** The height and outpoint in an address coin's key. */
export function parseAddressCoinKey(keyBytes: Uint8Array): { height: number; outpoint: Outpoint } {
  const buffer = asBuffer(keyBytes)
  return {
    height: buffer.readUInt32BE(22),
    outpoint: { txid: buffer.subarray(26, 58), index: buffer.readUInt16BE(58) },
  }
}

/** The chunk in the key of postings. */
export function chunkOfPostingKey(keyBytes: Uint8Array): number {
  return asBuffer(keyBytes).readUIntBE(keyBytes.length - 3, 3)
}

/** The number in the key of a branch that was left. */
export function leftBranchNumber(keyBytes: Uint8Array): number {
  return Number(asBuffer(keyBytes).readBigUInt64BE(1))
}

/** The fields in the key of evidence. */
export function parseEvidenceKey(keyBytes: Uint8Array): {
  height: number
  view: number
  kind: number
  signer: Uint8Array
} {
  const buffer = asBuffer(keyBytes)
  return {
    height: buffer.readUInt32BE(1),
    view: buffer.readUInt32BE(5),
    kind: buffer.readUInt8(9),
    signer: buffer.subarray(10),
  }
}

/** Position of a transaction on the active chain. */
export interface Location {
  readonly height: number
  readonly index: number
}
