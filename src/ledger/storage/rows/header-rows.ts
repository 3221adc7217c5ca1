import { Reader } from '../../../base/primitives/codec.js'
import type { Hash } from '../../../base/primitives/hash.js'
import { Header } from '../../../base/primitives/header.js'
import { present, type RowReader } from './row-reader.js'
import { tables } from './tables.js'

/** Unix seconds of a block whose header is stored. */
export function blockTime(rows: RowReader, hash: Hash): number {
  return Header.read(new Reader(present(tables.header.get(rows, hash), 'a header').header)).time
}
