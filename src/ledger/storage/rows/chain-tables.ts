import { asBuffer } from '../../../base/primitives/bytes.js'
import * as form from '../../../base/primitives/forms.js'
import type { Hash } from '../../../base/primitives/hash.js'
import { codec, hash, raw, rowOf, table, u16, u32, u64 } from './layout.js'
import { byHeight, byKey } from './shipped.js'
import { undoRecord } from './undo-record.js'

/** Rows of blocks and transactions. */

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

/** Position of a transaction on the active chain. */
export interface Location {
  readonly height: number
  readonly index: number
}

/** Hashes of a transaction that a block has given up, since its document was superseded. */
export interface GivenUpRow {
  readonly txid: Hash
  /** sha256d of all its bytes, signatures included. */
  readonly digest: Hash
}

/** How far superseded documents have been given up. */
export interface SupersededRow {
  /** The highest block with operations that were looked at. */
  readonly height: number
  /** DIDs of its undo record still to be looked at. */
  readonly left: number
}

/** The last block of a chain. */
export interface TipRow {
  readonly hash: Hash
  readonly height: number
}

/** A branch that was part of the active chain. */
export interface LeftBranchRow {
  readonly tip: TipRow
  /** The highest block shared with the branch that replaced it. */
  readonly forkHeight: number
}

/** Counters of a day, in the order in which its row has them. */
export const dayCounters = [
  'blocks',
  'transactions',
  'creations',
  'updates',
  'deactivations',
  'credentials',
  'fees',
  'intervals',
  'seconds',
] as const

/** Sums over the blocks of a day, of the genesis block none. */
export type DayCounters = Readonly<Record<(typeof dayCounters)[number], bigint>>

/** @tuning bytes: AuxPow of a stored header */
const maxAuxPow = 16 * 1024 + 1024

export const height = rowOf(form.u32)

export const location = codec<Location>(
  6,
  (writer, value) => writer.u32(value.height).u16(value.index),
  (reader) => ({ height: reader.u32(), index: reader.u16() }),
)

export const tip = rowOf(form.record<TipRow>({ hash: form.hash, height: form.u32 }))

/** Chain work in 32 bytes, big-endian. */
const work: form.Form<bigint> = {
  valueSize: 32,
  write: (writer, value) => writer.bytes(Buffer.from(value.toString(16).padStart(64, '0'), 'hex')),
  read: (reader) => BigInt(`0x${asBuffer(reader.take(32)).toString('hex')}`),
}

const headerRecord = rowOf(
  form.record<HeaderRecord>({
    header: form.bytes(84),
    auxPow: form.varbytes(maxAuxPow),
    status: form.oneOf(statuses),
    chainWork: work,
    transactionCount: form.u32,
    size: form.u32,
    arrival: form.u64,
  }),
  ({ auxPow }) => 160 + auxPow.length,
)

const givenUp = rowOf(form.record<GivenUpRow>({ txid: form.hash, digest: form.hash }))

export const superseded = rowOf(form.record<SupersededRow>({ height: form.u32, left: form.u32 }))

const leftBranch = rowOf(form.record<LeftBranchRow>({ tip, forkHeight: form.u32 }))

const day = codec<DayCounters>(
  8 * dayCounters.length,
  (writer, value) => dayCounters.reduce((into, name) => into.i64(value[name]), writer),
  (reader) => {
    const counters = {} as Record<keyof DayCounters, bigint>
    for (const name of dayCounters) counters[name] = reader.i64()
    return counters
  },
)

export const chainTables = {
  header: table(0x02, [hash('block hash')], headerRecord, 'all'),
  active: table(0x03, [u32('height')], raw(32), 'all'),
  transaction: table(0x04, [u32('height'), u16('index')], raw(), byHeight),
  sideBody: table(0x05, [hash('block hash')], raw(), byKey),
  location: table(0x06, [hash('txid')], location, byKey),
  confirm: table(0x07, [hash('block hash')], raw(), byKey),
  undo: table(0x0c, [u32('height')], undoRecord, byHeight),
  /** By a rising number: the same branch may be left twice. */
  leftBranch: table(0x10, [u64('number')], leftBranch, 'none'),
  sideChain: table(0x1d, [hash('hash of the genesis block of a side chain')], height, 'none'),
  /** By the time of the header, in UTC. No row for a day without blocks. */
  day: table(0x1e, [u32('day')], day, 'all'),
  /** In place of a row of `transaction`. */
  givenUp: table(0x1f, [u32('height'), u16('index')], givenUp, byHeight),
}
