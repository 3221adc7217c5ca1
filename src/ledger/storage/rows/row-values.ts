import type { Coin } from '../../consensus/ledger.js'
import type { ProgramHash } from '../../../base/primitives/address.js'
import { asBuffer, fromUtf8, mapKey, utf8 } from '../../../base/primitives/bytes.js'
import { Reader, Writer } from '../../../base/primitives/codec.js'
import type { OperationNumber } from '../../../base/primitives/did-operation.js'
import type { Hash } from '../../../base/primitives/hash.js'
import { eachSteps, finish, type Steps } from '../../../base/primitives/steps.js'
import { type Entry, entryBytes, entrySize, readEntry, stateAfter } from '../../../identity/proofs/history.js'
import type { MapKey } from '../../../identity/proofs/map-tree.js'
import { type Key, keys, type Location } from './schema.js'

/** The values of rows, in the codec of the chain: little-endian. Which key they belong to is drawn in schema.ts. */

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

/** The data to undo a block. */
export interface UndoRecord {
  /** For each transaction after the coinbase, the coins it spent in input order. */
  readonly spent: readonly (readonly Coin[])[]
  /** DIDs whose last operation is in this block, once per operation, in block order. */
  readonly dids: readonly ProgramHash[]
  /** Its declares and revokes, in block order. */
  readonly credentials: readonly CredentialUndo[]
  /** Side chains of which it has a proof of work later than all before, in block order. */
  readonly sideChains: readonly SideChainUndo[]
}

/** Height proved of a side chain before a proof; undefined: none. */
export interface SideChainUndo {
  readonly genesis: Uint8Array
  readonly before: number | undefined
}

/** A declare or revoke to take back. */
export interface CredentialUndo {
  readonly operation: OperationNumber
  readonly key: MapKey
  readonly holder: ProgramHash
}

/** One operation in the row of a credential and a signer: 75 bytes. */
export type CredentialOperationRow = Location & Entry

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

/** Height of no side block: a rule keeps them below 2^29. */
const unproved = 0xffffffff

/** First byte of a dropped row that has an order: no UTF-8 text begins with it. */
const orderedRow = 0xff

/**
 * Above all that the documents of one block can change.
 * @tuning count: rows of the index that a block changes
 */
const maxIndexUndoRows = 2 ** 31

/** @tuning bytes: AuxPow of a stored header */
const maxAuxPow = 16 * 1024 + 1024
/** @tuning bytes: a voting message in a row of evidence */
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
      if (reader.remaining === 0) return { spent, dids, credentials: [], sideChains: [] }
      const credentials = reader.list(0xffff, 54, () => {
        return { operation: reader.u8() as OperationNumber, key: reader.take(32), holder: reader.take(21) }
      })
      if (reader.remaining === 0) return { spent, dids, credentials, sideChains: [] }
      const sideChains = reader.list(0xffff, 36, () => {
        const [genesis, before] = [reader.take(32), reader.u32()]
        return { genesis, before: before === unproved ? undefined : before }
      })
      return { spent, dids, credentials, sideChains }
    },
  },
  /** The state is that after the last operation: 1 declared, 2 revoked. */
  credential: {
    encode: (operations: CredentialRow): Uint8Array => {
      const last = operations.at(-1)
      const writer = new Writer(2 + (2 + entrySize) * operations.length)
        .u8(last === undefined ? 1 : stateAfter(last.operation))
        .u8(operations.length)
      for (const operation of operations) writer.u16(operation.index).bytes(entryBytes(operation))
      return writer.finish()
    },
    decode: (bytes: Uint8Array): CredentialRow => {
      const reader = new Reader(bytes)
      reader.u8()
      return Array.from({ length: reader.u8() }, () => {
        const index = reader.u16()
        return { index, ...readEntry(reader.take(entrySize)) }
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

/** Coins written in one step. */
const coinsAtOnce = 16

/** Encodes an undo record in steps. */
export function* undoSteps({ spent, dids, credentials, sideChains }: UndoRecord): Steps<Uint8Array> {
  const writer = new Writer(1024).varuint(spent.length)
  for (let i = 0; i < spent.length; i++) {
    const coins = spent[i] as readonly Coin[]
    writer.varuint(coins.length)
    yield* eachSteps(coins, (coin) => writeCoin(writer, coin), coinsAtOnce)
    if (i % coinsAtOnce === coinsAtOnce - 1) yield
  }
  writer.list(dids, (did) => writer.bytes(did))
  // Blocks without credential operations, or without proofs of side chains, keep the bytes that they had before there were any.
  if (credentials.length + sideChains.length > 0) {
    writer.list(credentials, ({ operation, key: ofCredential, holder }) =>
      writer.u8(operation).bytes(ofCredential).bytes(holder),
    )
  }
  if (sideChains.length > 0) {
    writer.list(sideChains, ({ genesis, before = unproved }) => writer.bytes(genesis).u32(before))
  }
  return writer.finish()
}

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

/** The pages in a row of table mapRoot, one after the other: a block may change tens of thousands. */
export function* pagesOfMapRoot(bytes: Uint8Array): Generator<Key, void> {
  const reader = new Reader(bytes)
  reader.hash()
  while (reader.remaining > 0) {
    const at = reader.offset
    reader.take(Math.ceil(reader.u8() / 8))
    yield keys.mapPageOf(bytes.subarray(at, reader.offset))
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

/** Bytes of a coin. */
export const coinSize = 4 + 1 + 8 + 4 + 21

export function writeCoin(writer: Writer, coin: Coin): Writer {
  return writer
    .u32(coin.height)
    .u8(coin.coinbase ? 1 : 0)
    .i64(coin.value)
    .u32(coin.outputLock)
    .mapKey(coin.owner)
}

export function writeBalance(writer: Writer, { sum, count }: Balance): Writer {
  return writer.u64(sum).u32(count)
}

export function writeLocation(writer: Writer, { height, index }: Location): Writer {
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
