import { fromUtf8 } from '../../../base/primitives/bytes.js'
import * as form from '../../../base/primitives/forms.js'
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

export const metaTable = table(0x00, [bytes('name in ASCII')], raw())

const reorganisation = rowOf(form.record<ReorganisationRow>({ from: tip, to: tip }))

interface MetaRow<T> extends Codec<T> {
  readonly key: Key
  get(rows: RowReader): T | undefined
  put(rows: Pick<StagedRows, 'put'>, value: T): void
}

/** Declares a row by its name. */
function row<T>(name: string, value: Codec<T>): MetaRow<T> {
  const key = metaTable.key(fromUtf8(name))
  const get = (rows: RowReader) => {
    const found = rows.get(key)
    return found === undefined ? undefined : value.decode(found)
  }
  return { ...value, key, get, put: (rows, one) => rows.put(key, value.encode(one)) }
}

export const meta = {
  /** {@link schemaVersion} of the database. */
  version: row('version', rowOf(form.u8)),
  tip: row('tip', tip),
  /** Digest of the upgrades of the spec up to the tip. */
  upgrades: row('upgrades', raw(32)),
  /** Offset of a devnet's clock. */
  clock: row('clock', rowOf(form.i64)),
  /** Number before the first event of the last start. */
  events: row('events', rowOf(form.u64)),
  /** Highest block that was connected without verifying its signatures. */
  assumed: row('assumed', height),
  reorganisation: row('reorganisation', reorganisation),
  /** Height from which no row of table indexUndo is missing. */
  indexUndo: row('indexUndo', height),
  /** Highest block that has given up its transactions. */
  pruned: row('pruned', height),
  /** Up to which block operations had the documents before them given up. */
  superseded: row('superseded', superseded),
  /** Height of the state that the node took from others: what blocks up to it did was not verified. */
  joined: row('joined', height),
  /** There if the map of DIDs is complete. */
  didMap: row('didMap', rowOf(form.u8)),
  /** Lowest height of which the map proves anything. */
  proofs: row('proofs', height),
  /** Height up to which blocks have no rows of table mapPageBefore any more. */
  dropped: row('dropped', height),
  /** Number of the rules by which all blocks were checked. */
  rules: row('rules', rowOf(form.u8)),
  /** There if the days of all blocks are counted: height up to which their fees are not. */
  days: row('days', height),
}
