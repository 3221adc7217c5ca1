import { fromUtf8 } from '../../../base/primitives/bytes.js'
import * as form from '../../../base/primitives/forms.js'
import type { Hash } from '../../../base/primitives/hash.js'
import { height, superseded, tip, type TipRow } from './chain-tables.js'
import { bytes, type Codec, type Key, raw, rowOf, table } from './layout.js'
import type { RowReader, StagedRows } from './row-reader.js'

/** Rows of which there is one each. */

export const schemaVersion = 4

/** A reorganisation of several batches that is in progress. */
export interface ReorganisationRow {
  /** The tip before it, which readers still see. */
  readonly from: TipRow
  /** The target tip; equal to `from` once the new branch broke a rule and everything is taken back. */
  readonly to: TipRow
}

/** The outbox of a database whose rows are shipped: another name with each filling of shards. */
export interface ShippingRow {
  /** UUID of 16 bytes. */
  readonly stream: Uint8Array
  /** The last batch that the outbox has, or all before it. */
  readonly sequence: number
  /** Digest of the journal up to it. */
  readonly digest: Hash
  /** Bytes of all outbox rows of the stream so far, those deleted included. */
  readonly total: number
}

/** Each row says for itself whether it is shipped. */
export const metaTable = table(0x00, [bytes('name in ASCII')], raw(), 'all')

const reorganisation = rowOf(form.record<ReorganisationRow>({ from: tip, to: tip }))

const shipping = rowOf(
  form.record<ShippingRow>({ stream: form.bytes(16), sequence: form.u64, digest: form.hash, total: form.u64 }),
)

interface MetaRow<T> extends Codec<T> {
  readonly key: Key
  readonly shipped: 'all' | 'none'
  get(rows: RowReader): T | undefined
  put(rows: Pick<StagedRows, 'put'>, value: T): void
}

/** Declares a row by its name; readers of another engine need what it says, or not. */
function row<T>(name: string, value: Codec<T>, shipped: MetaRow<T>['shipped']): MetaRow<T> {
  const key = metaTable.key(fromUtf8(name))
  const get = (rows: RowReader) => {
    const found = rows.get(key)
    return found === undefined ? undefined : value.decode(found)
  }
  return { ...value, key, shipped, get, put: (rows, one) => rows.put(key, value.encode(one)) }
}

export const meta = {
  /** {@link schemaVersion} of the database. */
  version: row('version', rowOf(form.u8), 'all'),
  tip: row('tip', tip, 'all'),
  /** Digest of the upgrades of the spec up to the tip. */
  upgrades: row('upgrades', raw(32), 'all'),
  /** Offset of a devnet's clock. */
  clock: row('clock', rowOf(form.i64), 'all'),
  /** Number before the first event of the last start. */
  events: row('events', rowOf(form.u64), 'none'),
  /** Highest block that was connected without verifying its signatures. */
  assumed: row('assumed', height, 'all'),
  reorganisation: row('reorganisation', reorganisation, 'none'),
  /** Height from which no row of table indexUndo is missing. */
  indexUndo: row('indexUndo', height, 'none'),
  /** Highest block that has given up its transactions. */
  pruned: row('pruned', height, 'all'),
  /** Up to which block operations had the documents before them given up. */
  superseded: row('superseded', superseded, 'all'),
  /** Height of the state that the node took from others: what blocks up to it did was not verified. */
  joined: row('joined', height, 'all'),
  /** There if the map of DIDs is complete. */
  didMap: row('didMap', rowOf(form.u8), 'all'),
  /** Lowest height of which the map proves anything. */
  proofs: row('proofs', height, 'all'),
  /** Height up to which blocks have no rows of table mapPageBefore any more. */
  dropped: row('dropped', height, 'all'),
  /** Number of the rules by which all blocks were checked. */
  rules: row('rules', rowOf(form.u8), 'none'),
  /** There if the days of all blocks are counted: height up to which their fees are not. */
  days: row('days', height, 'all'),
  /** There while the outbox has all that shards lack. */
  shipping: row('shipping', shipping, 'none'),
}
