import { crc32 } from 'node:zlib'
import { InvariantError } from '../../base/errors/rule-error.js'
import { shippedOf } from '../storage/rows/shipped-rows.js'

/** Divides rows over shards: a row is in the slot that a part of its key decides, a shard has neighbouring slots. */

export { isShipped } from '../storage/rows/shipped-rows.js'

const slotBits = 10
/** Number of slots, and the most shards. */
export const slots = 2 ** slotBits

/** The shard with the row of a key, or with the rows of a range that begins with it; `every` one has it where all need it. */
export function shardOf(key: Buffer, shards: number): number | 'every' {
  const shipped = shippedOf(key)
  if (shipped === 'none') throw new InvariantError(`row ${key.toString('hex')} is on no shard`)
  if (shipped === 'all') return 'every'
  return ((crc32(shipped.of(key)) & (slots - 1)) * shards) >> slotBits
}
