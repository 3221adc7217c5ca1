import type { Coin } from '../consensus/ledger.js'
import type { Token } from '../did-index/token.js'
import type { ProgramHash } from '../primitives/address.js'
import { asBuffer, fromUtf8, mapKey, utf8 } from '../primitives/bytes.js'
import { Reader, Writer } from '../primitives/codec.js'
import type { Hash } from '../primitives/hash.js'
import { eachSteps, finish, type Steps } from '../primitives/steps.js'
import { outpointKey, outputIndexOf } from '../primitives/input.js'
import type { Outpoint } from '../primitives/transaction-fields.js'
import {
  type Entry,
  entryBytes,
  entrySize,
  operationNumber,
  type OperationNumber,
  readEntry,
} from '../proofs/history.js'
import type { MapKey } from '../proofs/map-tree.js'
import { FixedRow } from './fixed-row.js'

/**
 * Every row of the database: the form of its key and its value. No other file builds a key.
 *
 * Keys begin with a table byte and are big-endian, so that rows sort by their fields. Values are little-endian, in the
 * codec of the chain; a checksum follows each, which database.ts adds and removes. Table numbers are never reused.
 * docs/schema.md has the same table.
 *
 *   00 name                                       → meta: schema version, tip, digest of the upgrades up to it, a devnet's
 *                                                   clock offset, event number, assumed valid height, reorganisation,
 *                                                   highest block that gave up its transactions u32, whether the map of
 *                                                   DIDs is complete, lowest height of which it proves anything u32,
 *                                                   height up to which blocks have no rows 1b any more u32
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
 *   17 token, chunk u24                           → postings of 256 ordinals (did-index/posting-chunk.ts); no row for none
 *   18 token                                      → number of documents u32, of kinds that are counted; no row for 0
 *   19 height u32                                 → rows of 16, 17 and 18 that the block changed, as they were before
 *   1a depth u8, first bits of a map key          → page of the map of DIDs (map/map-page.ts)
 *   1b the same, height u32                       → that page before the block at this height; empty: there was none
 *   1c height u32                                 → map root after the block, then the keys of the pages that it changed
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
  pool: 0x20,
  dropped: 0x21,
  peer: 0x22,
  ban: 0x23,
  candidate: 0x24,
  evidence: 0x25,
} as const

export const schemaVersion = 4
/** The oldest layout that a start changes into this one. */
export const oldestLayout = 2

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
const fill = {
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
      | 'migration'
      | 'indexUndo'
      | 'pruned'
      | 'didMap'
      | 'proofs'
      | 'dropped',
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
  /** By the key of the page. */
  mapPageBefore: (page: Key, height: number): Key => {
    const buffer = key(table.mapPageBefore, page.length + 3)
    buffer.set(page.subarray(1), 1)
    buffer.writeUInt32BE(height, page.length)
    return buffer
  },
  mapRoot: (height: number): Key => heightKey(table.mapRoot, height),
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

/** Status of a block on this node. */
export type BlockStatus = 'header' | 'side' | 'active' | 'invalid'
const statuses: readonly BlockStatus[] = ['header', 'side', 'active', 'invalid']

/** The stored record of every header. */
export interface HeaderRecord {
  /** 84 bytes. */
  readonly header: Uint8Array
  readonly auxPow: Uint8Array
  readonly status: BlockStatus
  /** Work of the chain up to and including this block. */
  readonly chainWork: bigint
  readonly transactionCount: number
  /** Bytes of the whole block on the wire. */
  readonly size: number
  /** Rises with every accepted header: the earlier of two equal chains wins, across restarts too. */
  readonly arrival: number
}

/** The last block of a chain. */
export interface TipRow {
  readonly hash: Hash
  readonly height: number
}

/** A reorganisation of several batches that is in progress. */
export interface ReorganisationRow {
  /** The tip before it, which readers still see. */
  readonly from: TipRow
  /** The target tip; equal to `from` once the new branch broke a rule and everything is taken back. */
  readonly to: TipRow
}

/** A branch that was part of the active chain. */
export interface LeftBranchRow {
  readonly tip: TipRow
  /** The highest block shared with the branch that replaced it. */
  readonly forkHeight: number
}

/** The balance row of an address. */
export interface Balance {
  readonly sum: bigint
  readonly count: number
}

/** Coins written in one step. */
const coinsAtOnce = 16

/** Encodes an undo record in steps. */
export function* undoSteps({ spent, dids, credentials }: UndoRecord): Steps<Uint8Array> {
  const writer = new Writer(1024).varuint(spent.length)
  for (let i = 0; i < spent.length; i++) {
    const coins = spent[i] as readonly Coin[]
    writer.varuint(coins.length)
    yield* eachSteps(coins, (coin) => writeCoin(writer, coin), coinsAtOnce)
    if (i % coinsAtOnce === coinsAtOnce - 1) yield
  }
  writer.list(dids, (did) => writer.bytes(did))
  // Blocks without credential operations keep the bytes that they had before there were any.
  if (credentials.length > 0) {
    writer.list(credentials, ({ operation, key: ofCredential, holder }) =>
      writer.u8(operation).bytes(ofCredential).bytes(holder),
    )
  }
  return writer.finish()
}

/** The data to undo a block. */
export interface UndoRecord {
  /** For each transaction after the coinbase, the coins it spent in input order. */
  readonly spent: readonly (readonly Coin[])[]
  /** DIDs whose last operation is in this block, once per operation, in block order. */
  readonly dids: readonly ProgramHash[]
  /** Its declares and revokes, in block order. */
  readonly credentials: readonly CredentialUndo[]
}

/** A declare or revoke to take back. */
export interface CredentialUndo {
  readonly operation: CredentialOperation
  readonly key: MapKey
  readonly holder: ProgramHash
}

/** Numbers of the operations on credentials in rows. */
export type CredentialOperation = (typeof operationNumber)['declare' | 'revoke']

/** One operation in the row of a credential and a signer: 75 bytes. */
export interface CredentialOperationRow extends Location, Entry {
  readonly operation: CredentialOperation
}

/** What one DID said of one credential, in chain order: a declare, a revoke, or the one and then the other. */
export type CredentialRow = readonly CredentialOperationRow[]

/** The state of a DID, without its document: that is in the transaction of the last create or update. */
export interface DidHeadRow {
  readonly status: 'valid' | 'deactivated'
  /** Operations so far; the next one gets this sequence number. */
  readonly operationCount: number
  /** Sequence number of the operation that holds the document. */
  readonly documentSequence: number
  /** Number of the DID in the order of creation. */
  readonly ordinal: number
}

/** A row before a change; undefined where there was none. */
export interface RowBefore {
  readonly key: Key
  readonly value: Uint8Array | undefined
}

/** One operation of a DID: 107 bytes. */
export interface DidOperationRow extends Location, Entry {
  /** Digest of the history up to this operation. */
  readonly digest: Hash
}

/** The map of DIDs after a block. */
export interface MapRootRow {
  readonly root: Hash
  /** Keys of the pages that the block changed, in table mapPage; none once these can no longer be put back. */
  readonly pages: readonly Key[]
}

/** Stored facts about a peer, by its key. */
export interface PeerRow {
  /** Listening address as `host:port`. */
  readonly address: string
  /** Time of the last connection, in Unix milliseconds; 0 if never. */
  readonly seen: number
  /** Consecutive failed attempts, at most 255. */
  readonly failures: number
}

/** A banned peer or host. */
export interface BanRow {
  readonly kind: 'key' | 'host'
  /** Unix milliseconds. */
  readonly until: number
  readonly reason: string
}

/** Why a pooled transaction was dropped. */
export interface DroppedRow {
  /** Rises with every drop, across restarts too; from 1. */
  readonly order: number
  readonly reason: string
}

/** First byte of a dropped row that has an order: no UTF-8 text begins with it. */
const orderedRow = 0xff

/**
 * Above all that the documents of one block can change.
 * @limit count: rows of the index that a block changes
 */
const maxIndexUndoRows = 2 ** 31

/** Encodes the rows of an index before a block, in steps. */
export function* indexUndoSteps(rows: readonly RowBefore[]): Steps<Uint8Array> {
  const writer = new Writer(64 * rows.length).varuint(rows.length)
  for (const { key: rowKey, value } of rows) {
    writer.varbytes(rowKey)
    if (value === undefined) writer.u8(0)
    else writer.u8(1).varbytes(value)
    yield
  }
  return writer.finish()
}

/** @limit bytes: AuxPow of a stored header */
const maxAuxPow = 16 * 1024 + 1024
/** @limit bytes: a voting message in a row of evidence */
const maxEvidenceMessage = 32 * 1024

export const values = {
  location: {
    encode: (location: Location) => writeLocation(new Writer(6), location).finish(),
    decode: (bytes: Uint8Array): Location => {
      const reader = new Reader(bytes)
      return { height: reader.u32(), index: reader.u16() }
    },
  },
  header: {
    encode: (record: HeaderRecord) =>
      new Writer(160 + record.auxPow.length)
        .bytes(record.header)
        .varbytes(record.auxPow)
        .u8(statuses.indexOf(record.status))
        .bytes(work.encode(record.chainWork))
        .u32(record.transactionCount)
        .u32(record.size)
        .u64(BigInt(record.arrival))
        .finish(),
    decode: (bytes: Uint8Array): HeaderRecord => {
      const reader = new Reader(bytes)
      return {
        header: reader.take(84),
        auxPow: reader.varbytes(maxAuxPow),
        status: statuses[reader.u8()] as BlockStatus,
        chainWork: work.decode(reader.take(32)),
        transactionCount: reader.u32(),
        size: reader.u32(),
        arrival: Number(reader.u64()),
      }
    },
  },
  coin: {
    encode: (coin: Coin) => writeCoin(new Writer(coinSize), coin).finish(),
    decode: (bytes: Uint8Array): Coin => readCoin(new Reader(bytes)),
  },
  addressCoin: {
    encode: (value: bigint) => new Writer(8).i64(value).finish(),
    decode: (bytes: Uint8Array): bigint => new Reader(bytes).i64(),
  },
  balance: {
    encode: (balance: Balance) => writeBalance(new Writer(12), balance).finish(),
    decode: (bytes: Uint8Array): Balance => {
      const reader = new Reader(bytes)
      return { sum: reader.u64(), count: reader.u32() }
    },
  },
  undo: {
    encode: (record: UndoRecord) => finish(undoSteps(record)),
    decode: (bytes: Uint8Array): UndoRecord => {
      const reader = new Reader(bytes)
      const spent = reader.list(0xffff, 1, () => reader.list(0xffff, coinSize, () => readCoin(reader)))
      const dids = reader.list(0xffff, 21, () => reader.take(21))
      if (reader.remaining === 0) return { spent, dids, credentials: [] }
      const credentials = reader.list(0xffff, 54, () => {
        return { operation: reader.u8() as CredentialOperation, key: reader.take(32), holder: reader.take(21) }
      })
      return { spent, dids, credentials }
    },
  },
  /** The state is that after the last operation: 1 declared, 2 revoked. */
  credential: {
    encode: (operations: CredentialRow): Uint8Array => {
      const revoked = operations.at(-1)?.operation === operationNumber.revoke
      const writer = new Writer(2 + (2 + entrySize) * operations.length).u8(revoked ? 2 : 1).u8(operations.length)
      for (const operation of operations) writer.u16(operation.index).bytes(entryBytes(operation))
      return writer.finish()
    },
    decode: (bytes: Uint8Array): CredentialRow => {
      const reader = new Reader(bytes)
      reader.u8()
      return Array.from({ length: reader.u8() }, () => {
        const index = reader.u16()
        return { index, ...(readEntry(reader.take(entrySize)) as Entry & { operation: CredentialOperation }) }
      })
    },
  },
  declared: {
    encode: (fragment: string): Uint8Array => fromUtf8(fragment),
    decode: (bytes: Uint8Array): string => utf8(bytes) ?? '',
  },
  declaredCount: {
    encode: (count: number): Uint8Array => new Writer(4).u32(count).finish(),
    decode: (bytes: Uint8Array): number => new Reader(bytes).u32(),
  },
  didHead: {
    encode: ({ status, operationCount, documentSequence, ordinal }: DidHeadRow) =>
      new Writer(13)
        .u8(status === 'valid' ? 0 : 1)
        .u32(operationCount)
        .u32(documentSequence)
        .u32(ordinal)
        .finish(),
    decode: (bytes: Uint8Array): DidHeadRow => {
      const reader = new Reader(bytes)
      return {
        status: reader.u8() === 0 ? 'valid' : 'deactivated',
        operationCount: reader.u32(),
        documentSequence: reader.u32(),
        ordinal: reader.u32(),
      }
    },
  },
  didOperation: {
    encode: ({ height, index, txid, operation, time, payloadHash, digest }: DidOperationRow) =>
      new Writer(107)
        .u32(height)
        .u16(index)
        .bytes(txid)
        .u8(operation)
        .u32(time)
        .bytes(payloadHash)
        .bytes(digest)
        .finish(),
    decode: (bytes: Uint8Array): DidOperationRow => {
      const reader = new Reader(bytes)
      return {
        height: reader.u32(),
        index: reader.u16(),
        txid: reader.hash(),
        operation: reader.u8() as OperationNumber,
        time: reader.u32(),
        payloadHash: reader.hash(),
        digest: reader.hash(),
      }
    },
  },
  height: {
    encode: (height: number) => new Writer(4).u32(height).finish(),
    decode: (bytes: Uint8Array): number => new Reader(bytes).u32(),
  },
  tokenCount: {
    encode: (count: number) => new Writer(4).u32(count).finish(),
    decode: (bytes: Uint8Array): number => new Reader(bytes).u32(),
  },
  /** For each row its key as byte string, then 0 u8 if there was none, else 1 u8 and its value as byte string. */
  indexUndo: {
    encode: (rows: readonly RowBefore[]): Uint8Array => finish(indexUndoSteps(rows)),
    decode: (bytes: Uint8Array): RowBefore[] => {
      const reader = new Reader(bytes)
      return reader.list(maxIndexUndoRows, 2, () => {
        const rowKey = asBuffer(reader.varbytes(0xff))
        return { key: rowKey, value: reader.u8() === 0 ? undefined : reader.varbytes(0xffffff) }
      })
    },
  },
  /** The keys are those of the pages, without table byte, each 1 byte of depth and ⌈depth/8⌉ bytes. */
  mapRoot: {
    // A call takes only so many arguments: a block may change tens of thousands of pages.
    encode: ({ root, pages }: MapRootRow): Uint8Array => {
      const writer = new Writer(32 + pages.length * 8).bytes(root)
      for (const page of pages) writer.bytes(page.subarray(1))
      return writer.finish()
    },
    decode: (bytes: Uint8Array): MapRootRow => ({ root: bytes.subarray(0, 32), pages: [...pagesOfMapRoot(bytes)] }),
  },
  tip: {
    encode: (tip: TipRow) => writeTip(new Writer(36), tip).finish(),
    decode: (bytes: Uint8Array): TipRow => readTip(new Reader(bytes)),
  },
  reorganisation: {
    encode: ({ from, to }: ReorganisationRow): Uint8Array => writeTip(writeTip(new Writer(72), from), to).finish(),
    decode: (bytes: Uint8Array): ReorganisationRow => {
      const reader = new Reader(bytes)
      return { from: readTip(reader), to: readTip(reader) }
    },
  },
  leftBranch: {
    encode: ({ tip, forkHeight }: LeftBranchRow): Uint8Array => writeTip(new Writer(40), tip).u32(forkHeight).finish(),
    decode: (bytes: Uint8Array): LeftBranchRow => {
      const reader = new Reader(bytes)
      return { tip: readTip(reader), forkHeight: reader.u32() }
    },
  },
  /** Two byte strings. */
  evidence: {
    encode: ({ first, second }: { first: Uint8Array; second: Uint8Array }) =>
      new Writer(10 + first.length + second.length).varbytes(first).varbytes(second).finish(),
    decode: (bytes: Uint8Array): { first: Uint8Array; second: Uint8Array } => {
      const reader = new Reader(bytes)
      return { first: reader.varbytes(maxEvidenceMessage), second: reader.varbytes(maxEvidenceMessage) }
    },
  },
  peer: {
    encode: ({ address, seen, failures }: PeerRow) =>
      new Writer().varstring(address).u64(BigInt(seen)).u8(failures).finish(),
    decode: (bytes: Uint8Array): PeerRow => {
      const reader = new Reader(bytes)
      return { address: reader.varstring(0xffff), seen: Number(reader.u64()), failures: reader.u8() }
    },
  },
  ban: {
    encode: ({ kind, until, reason }: BanRow) =>
      new Writer()
        .u8(kind === 'key' ? 0 : 1)
        .u64(BigInt(until))
        .varstring(reason)
        .finish(),
    decode: (bytes: Uint8Array): BanRow => {
      const reader = new Reader(bytes)
      return {
        kind: reader.u8() === 0 ? 'key' : 'host',
        until: Number(reader.u64()),
        reason: reader.varstring(0xffff),
      }
    },
  },
  /** Rows of earlier versions are the text alone: they count as older than all others. */
  dropped: {
    encode: ({ order, reason }: DroppedRow) =>
      new Writer(9 + reason.length).u8(orderedRow).u64(BigInt(order)).bytes(fromUtf8(reason)).finish(),
    decode: (row: Uint8Array): DroppedRow => {
      if (row[0] !== orderedRow) return { order: 0, reason: utf8(row) ?? '' }
      const reader = new Reader(row.subarray(1))
      return { order: Number(reader.u64()), reason: utf8(reader.take(reader.remaining)) ?? '' }
    },
  },
  pool: {
    encode: ({ arrival, bytes }: { arrival: number; bytes: Uint8Array }) =>
      new Writer(8 + bytes.length).u64(BigInt(arrival)).bytes(bytes).finish(),
    decode: (row: Uint8Array): { arrival: number; bytes: Uint8Array } => {
      const reader = new Reader(row)
      return { arrival: Number(reader.u64()), bytes: reader.take(reader.remaining) }
    },
  },
}

/** The pages in a row of table mapRoot, one after the other: a block may change tens of thousands. */
export function* pagesOfMapRoot(bytes: Uint8Array): Generator<Key, void> {
  const reader = new Reader(bytes)
  reader.hash()
  while (reader.remaining > 0) {
    const at = reader.offset
    reader.take(Math.ceil(reader.u8() / 8))
    yield keyOf(table.mapPage, bytes.subarray(at, reader.offset))
  }
}

function writeTip(writer: Writer, { hash, height }: TipRow): Writer {
  return writer.bytes(hash).u32(height)
}

function readTip(reader: Reader): TipRow {
  return { hash: reader.hash(), height: reader.u32() }
}

/** 32 bytes, big-endian. */
const work = {
  encode: (value: bigint): Uint8Array => Buffer.from(value.toString(16).padStart(64, '0'), 'hex'),
  decode: (bytes: Uint8Array): bigint => BigInt(`0x${asBuffer(bytes).toString('hex')}`),
}

/**
 * Memory for rows of the tables that every transfer changes: each row is made where the one before it of its table was, and lasts as
 * long. What {@link keys} and {@link values} make is the same bytes.
 */
export class TransferRows {
  readonly #coin = new FixedRow(table.coin, 34, coinSize)
  readonly #addressCoin = new FixedRow(table.addressCoin, 59, 8)
  readonly #balance = new FixedRow(table.balance, 21, 12)
  readonly #history = new FixedRow(table.history, 27, 0)
  readonly #location = new FixedRow(table.location, 32, 6)

  /** A coin by its `outpointKey`; without `coin` the key alone. */
  coin(outpoint: string, coin?: Coin): FixedRow {
    fill.coin(this.#coin.key, outpoint)
    if (coin !== undefined) writeCoin(this.#coin.begin(), coin)
    return this.#coin
  }

  addressCoin(outpoint: string, { owner, height, value }: Coin): FixedRow {
    fill.addressCoin(this.#addressCoin.key, owner, height, outpoint)
    this.#addressCoin.begin().i64(value)
    return this.#addressCoin
  }

  /** The balance of an owner, as coins name it. */
  balance(owner: string, balance: Balance): FixedRow {
    this.#balance.key.write(owner, 1, 'latin1')
    writeBalance(this.#balance.begin(), balance)
    return this.#balance
  }

  history(owner: string, height: number, index: number): FixedRow {
    fill.history(this.#history.key, owner, height, index)
    return this.#history
  }

  /** The position of a transaction, by `mapKey` of its txid. */
  location(txid: string, location: Location): FixedRow {
    this.#location.key.write(txid, 1, 'latin1')
    writeLocation(this.#location.begin(), location)
    return this.#location
  }
}

/** Bytes of a coin. */
export const coinSize = 4 + 1 + 8 + 4 + 21

function writeCoin(writer: Writer, coin: Coin): Writer {
  return writer
    .u32(coin.height)
    .u8(coin.coinbase ? 1 : 0)
    .i64(coin.value)
    .u32(coin.outputLock)
    .mapKey(coin.owner)
}

function writeBalance(writer: Writer, { sum, count }: Balance): Writer {
  return writer.u64(sum).u32(count)
}

function writeLocation(writer: Writer, { height, index }: Location): Writer {
  return writer.u32(height).u16(index)
}

function readCoin(reader: Reader): Coin {
  return {
    height: reader.u32(),
    coinbase: reader.u8() === 1,
    value: reader.i64(),
    outputLock: reader.u32(),
    owner: mapKey(reader.take(21)),
  }
}
