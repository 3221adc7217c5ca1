import { crc32 } from 'node:zlib'
import { InvariantError } from '../../base/errors/rule-error.js'
import type { ShardPlace } from './row-engine.js'
import { prefixRange } from '../storage/rows/layout.js'
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

/** Whether a shard has the row of a key. */
export function hasRow({ number, shards }: ShardPlace, key: Buffer): boolean {
  const on = shardOf(key, shards)
  return on === 'every' || on === number
}

/** The shards that may have rows of a range of one table; one of them where all have these. */
export function shardsOf({ gte, lt }: { readonly gte: Buffer; readonly lt: Buffer }, shards: number): number[] {
  const shipped = shippedOf(gte)
  if (shipped === 'all' || shards === 1) return [0]
  if (shipped === 'none') throw new InvariantError(`rows from ${gte.toString('hex')} on are on no shard`)
  const reach = shipped.reach(gte)
  const shared = prefixRange(gte.subarray(0, reach))
  const isOne = gte.length >= reach && Buffer.compare(lt, shared.lt) <= 0
  return isOne ? [shardOf(gte, shards) as number] : Array.from({ length: shards }, (_, shard) => shard)
}
