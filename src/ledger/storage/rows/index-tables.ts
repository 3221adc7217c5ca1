import { asBuffer } from '../../../base/primitives/bytes.js'
import { Reader, Writer } from '../../../base/primitives/codec.js'
import { finish, type Steps } from '../../../base/primitives/steps.js'
import { decodeChunk, encodeChunk } from '../../../identity/did-index/posting-chunk.js'
import { height as count, location } from './chain-tables.js'
import { bytes, type Codec, type Key, table, u24, u32 } from './layout.js'
import { byChunk, byKey, byOrdinal } from './shipped.js'

/** Rows by which a search finds documents. */

/** A row before a change; undefined: it did not exist. */
export interface RowBefore {
  readonly key: Key
  readonly value: Uint8Array | undefined
}

/**
 * Above all that the documents of one block can change.
 * @tuning count: rows of the index that a block changes
 */
const maxIndexUndoRows = 2 ** 31

/** For each row its key as byte string, then 0 u8 if there was none, else 1 u8 and its value as byte string. */
const rowsBefore: Codec<readonly RowBefore[]> = {
  encode: (rows) => finish(indexUndoSteps(rows)),
  decode: (row) => {
    const reader = new Reader(row)
    return reader.list(maxIndexUndoRows, 2, () => {
      const key = asBuffer(reader.varbytes(0xff))
      return { key, value: reader.u8() === 0 ? undefined : reader.varbytes(0xffffff) }
    })
  },
}

/** Encodes the rows of an index before a block, in steps. */
export function* indexUndoSteps(rows: readonly RowBefore[]): Steps<Uint8Array> {
  const writer = new Writer(64 * rows.length).varuint(rows.length)
  for (const { key, value } of rows) {
    writer.varbytes(key)
    if (value === undefined) writer.u8(0)
    else writer.u8(1).varbytes(value)
    yield
  }
  return writer.finish()
}

export const indexTables = {
  /** The key of the document. */
  ordinal: table(0x16, [u32('ordinal')], location, byOrdinal),
  /** No row for none. */
  posting: table(
    0x17,
    [bytes('token'), u24('chunk', ' (ordinal divided by 256)')],
    { encode: encodeChunk, decode: decodeChunk },
    byChunk,
  ),
  /** No row for 0. */
  tokenCount: table(0x18, [bytes('token, not of kinds 5, 6 and 8')], count, byKey),
  indexUndo: table(0x19, [u32('height')], rowsBefore, 'none'),
}
