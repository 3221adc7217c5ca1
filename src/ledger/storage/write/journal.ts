import { concat } from '../../../base/primitives/bytes.js'
import { Writer } from '../../../base/primitives/codec.js'
import { sha256 } from '../../../base/primitives/hash.js'

/**
 * The journal: one row per batch, written with it. LevelDB silently opens a database whose log lost records in the middle. A
 * missing row, or one whose `previous` is not the digest of the row before, reveals that.
 */

/** Bytes of a row, key and value: the minimum of a batch. */
export const journalRowSize = 9 + 105

/** sha256 of the sequence number and the row: `previous` of the next row. */
export function journalDigest(sequence: number, row: Uint8Array): Uint8Array {
  return sha256(concat(new Writer(8).u64(BigInt(sequence)).finish(), row))
}
