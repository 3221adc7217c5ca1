import { codec, table, u64 } from './layout.js'

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
  /** sha256 over the operations of the batch, this row excepted, as write/batch-rows.ts writes them. */
  readonly operations: Uint8Array
}

const journalRow = codec<JournalRow>(
  105,
  (writer, row) =>
    writer
      .u8(kinds.indexOf(row.kind))
      .u32(row.height)
      .bytes(row.hash)
      .u32(row.bytes)
      .bytes(row.previous)
      .bytes(row.operations),
  (reader) => ({
    kind: kinds[reader.u8()] as JournalKind,
    height: reader.u32(),
    hash: reader.hash(),
    bytes: reader.u32(),
    previous: reader.hash(),
    operations: reader.hash(),
  }),
)

export const journal = table(0x01, [u64('sequence')], journalRow)
