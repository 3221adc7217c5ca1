import type { EngineRange, EngineRow } from './row-engine.js'
import { hasRow, shardsOf } from './slots.js'

/** A range as one shard is asked for it. */
export interface ShardRange {
  readonly shard: number
  readonly range: EngineRange
}

/** The shards that may have rows of a range. */
export function spreadRange(range: EngineRange, shards: number): ShardRange[] {
  return shardsOf(range, shards).map((shard) => ({ shard, range }))
}

/** Rows that were read of a range, in order: all up to a key, or all that there are. There may be none up to that key. */
export interface RangePart {
  readonly rows: readonly EngineRow[]
  /** Key of the last row that was looked at; undefined: no row follows. */
  readonly upTo: Buffer | undefined
}

/** Whether rows are of a range, in its order, and no more than were asked for: an engine could let a reader go round for ever. */
export function isInOrder({ gte, lt, limit, reverse }: EngineRange, rows: readonly EngineRow[]): boolean {
  const sign = reverse === true ? -1 : 1
  const isNext = ([key]: EngineRow, i: number) =>
    i === 0 || sign * Buffer.compare((rows[i - 1] as EngineRow)[0], key) < 0
  const isInside = ([key]: EngineRow) => Buffer.compare(gte, key) <= 0 && Buffer.compare(key, lt) < 0
  return rows.length <= limit && rows.every((row, i) => isInside(row) && isNext(row, i))
}

/** Whether the rows that a shard gave for a range are all that it has of it. */
export function isWhole({ limit, bytes }: EngineRange, rows: readonly EngineRow[]): boolean {
  return rows.length < limit && rows.reduce((sum, [, sealed]) => sum + sealed.length, 0) < bytes
}

/**
 * Joins what shards gave for one range, in the order of their numbers. Where a shard gave a part, rows behind its last one may be missing
 * from it: these are left out of all. So are rows that a shard had before it was divided.
 */
export function joinRanges(range: EngineRange, parts: readonly (readonly EngineRow[])[]): RangePart {
  const [only] = parts
  if (only !== undefined && parts.length === 1)
    return { rows: only, upTo: isWhole(range, only) ? undefined : only.at(-1)?.[0] }
  const sign = range.reverse === true ? -1 : 1
  const order = (a: Buffer, b: Buffer) => sign * Buffer.compare(a, b)
  const open = parts.filter((rows) => !isWhole(range, rows)).map((rows) => (rows.at(-1) as EngineRow)[0])
  const end = open.sort(order)[0]
  const own = parts.flatMap((rows, number) => rows.filter(([key]) => hasRow({ number, shards: parts.length }, key)))
  const all = own.sort((a, b) => order(a[0], b[0]))
  const rows = end === undefined ? all : all.filter(([key]) => order(key, end) <= 0)
  const some = rows.slice(0, range.limit)
  return { rows: some, upTo: some.length === rows.length ? end : some.at(-1)?.[0] }
}
