import { fromUtf8, utf8 } from '../../../base/primitives/bytes.js'
import { bytes, codec, hash, table, raw, u32, u8 } from './layout.js'

/** Rows of the pool, of peers, and of the vote. */

/** A pooled transaction. */
export interface PoolRow {
  /** Unix milliseconds. */
  readonly arrival: number
  readonly bytes: Uint8Array
}

/** Why a pooled transaction was dropped. */
export interface DroppedRow {
  /** Rises with every drop, across restarts too; from 1. */
  readonly order: number
  readonly reason: string
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

/** Two messages of one validator that contradict each other. */
export interface EvidenceRow {
  readonly first: Uint8Array
  readonly second: Uint8Array
}

/** First byte of a dropped row that has an order: no UTF-8 text begins with it. */
const orderedRow = 0xff
/** @tuning bytes: a voting message in a row of evidence */
const maxEvidenceMessage = 32 * 1024

const pooled = codec<PoolRow>(
  (row) => 8 + row.bytes.length,
  (writer, row) => writer.u64(BigInt(row.arrival)).bytes(row.bytes),
  (reader) => ({ arrival: Number(reader.u64()), bytes: reader.take(reader.remaining) }),
)

const ordered = codec<DroppedRow>(
  ({ reason }) => 9 + reason.length,
  (writer, { order, reason }) => writer.u8(orderedRow).u64(BigInt(order)).bytes(fromUtf8(reason)),
  (reader) => {
    reader.u8()
    return { order: Number(reader.u64()), reason: utf8(reader.take(reader.remaining)) ?? '' }
  },
)

/** Rows of earlier versions are the text alone: they count as older than all others. */
const dropped = {
  encode: ordered.encode,
  decode: (row: Uint8Array): DroppedRow =>
    row[0] === orderedRow ? ordered.decode(row) : { order: 0, reason: utf8(row) ?? '' },
}

const peer = codec<PeerRow>(
  ({ address }) => 16 + address.length,
  (writer, { address, seen, failures }) => writer.varstring(address).u64(BigInt(seen)).u8(failures),
  (reader) => ({ address: reader.varstring(0xffff), seen: Number(reader.u64()), failures: reader.u8() }),
)

const ban = codec<BanRow>(
  ({ reason }) => 16 + reason.length,
  (writer, { kind, until, reason }) =>
    writer
      .u8(kind === 'key' ? 0 : 1)
      .u64(BigInt(until))
      .varstring(reason),
  (reader) => ({
    kind: reader.u8() === 0 ? 'key' : 'host',
    until: Number(reader.u64()),
    reason: reader.varstring(0xffff),
  }),
)

const evidence = codec<EvidenceRow>(
  ({ first, second }) => 10 + first.length + second.length,
  (writer, { first, second }) => writer.varbytes(first).varbytes(second),
  (reader) => ({ first: reader.varbytes(maxEvidenceMessage), second: reader.varbytes(maxEvidenceMessage) }),
)

export const networkTables = {
  pool: table(0x20, [hash('txid')], pooled),
  dropped: table(0x21, [hash('txid')], dropped),
  peer: table(0x22, [hash('public key of the peer')], peer),
  ban: table(0x23, [bytes('public key of a peer, or a host in UTF-8')], ban),
  candidate: table(0x24, [hash('block hash')], raw()),
  evidence: table(0x25, [u32('height'), u32('view'), u8('kind'), bytes('key of the validator 33', 33)], evidence),
}
