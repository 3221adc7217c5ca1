import { fromUtf8, utf8 } from '../../../base/primitives/bytes.js'
import * as form from '../../../base/primitives/forms.js'
import { bytes, codec, hash, raw, rowOf, table, u32, u8 } from './layout.js'

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

const pooled = rowOf(form.record<PoolRow>({ arrival: form.u64, bytes: form.rest }), ({ bytes }) => 8 + bytes.length)

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

const peer = rowOf(form.record<PeerRow>({ address: form.varstring(0xffff), seen: form.u64, failures: form.u8 }))

const ban = rowOf(
  form.record<BanRow>({ kind: form.oneOf(['key', 'host']), until: form.u64, reason: form.varstring(0xffff) }),
)

const message = form.varbytes(maxEvidenceMessage)
const evidence = rowOf(
  form.record<EvidenceRow>({ first: message, second: message }),
  ({ first, second }) => 10 + first.length + second.length,
)

export const networkTables = {
  pool: table(0x20, [hash('txid')], pooled, 'none'),
  dropped: table(0x21, [hash('txid')], dropped, 'none'),
  peer: table(0x22, [hash('public key of the peer')], peer, 'none'),
  ban: table(0x23, [bytes('public key of a peer, or a host in UTF-8')], ban, 'none'),
  candidate: table(0x24, [hash('block hash')], raw(), 'none'),
  evidence: table(
    0x25,
    [u32('height'), u32('view'), u8('kind'), bytes('key of the validator 33', 33)],
    evidence,
    'none',
  ),
}
