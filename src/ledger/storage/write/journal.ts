import { concat } from '../../../base/primitives/bytes.js'
import { Reader, Writer } from '../../../base/primitives/codec.js'
import { sha256 } from '../../../base/primitives/hash.js'

/**
 * The journal: one row per batch, written with it. LevelDB silently opens a database whose log lost records in the middle. A
 * missing row, or one whose `previous` is not the digest of the row before, reveals that.
 */

/** Kind of a batch. Numbers are the order here and never change. */
const kinds = [
  'checkpoint',
  'genesis',
  'block',
  'reorganisation',
  'header',
  'pool',
  'rewind',
  'peers',
  'voting',
  'layout',
  'prune',
] as const
export type JournalKind = (typeof kinds)[number]

export interface JournalRow {
  readonly kind: JournalKind
  /** Height and hash of the tip after the batch. */
  readonly height: number
  readonly hash: Uint8Array
  /** Bytes of keys and values in the batch, this row excepted. */
  readonly bytes: number
  /** Digest of the row before; zeros for the first. */
  readonly previous: Uint8Array
  /** sha256 over the operations of the batch, this row excepted, as batch-rows.ts writes them. */
  readonly operations: Uint8Array
}

/** Bytes of a row, key and value: the minimum of a batch. */
export const journalRowSize = 9 + 105

export const journalRow = {
  encode: (row: JournalRow): Uint8Array =>
    new Writer(105)
      .u8(kinds.indexOf(row.kind))
      .u32(row.height)
      .bytes(row.hash)
      .u32(row.bytes)
      .bytes(row.previous)
      .bytes(row.operations)
      .finish(),
  decode: (bytes: Uint8Array): JournalRow => {
    const reader = new Reader(bytes)
    return {
      kind: kinds[reader.u8()] as JournalKind,
      height: reader.u32(),
      hash: reader.hash(),
      bytes: reader.u32(),
      previous: reader.hash(),
      operations: reader.hash(),
    }
  },
}

/** sha256 of the sequence number and the row: `previous` of the next row. */
export function journalDigest(sequence: number, row: Uint8Array): Uint8Array {
  return sha256(concat(new Writer(8).u64(BigInt(sequence)).finish(), row))
}
