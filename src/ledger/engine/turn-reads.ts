import { mapKey } from '../../base/primitives/bytes.js'
import type { AskedShards } from './asked-shards.js'
import { RowsMoved } from './engine-failures.js'
import type { EngineRange, EngineRow, ShardPosition } from './row-engine.js'
import { shardOf } from './slots.js'
import { joinRanges, type RangePart, spreadRange } from './spread-range.js'

/** @tuning count: keys that a shard is asked for at once */
const keysAtOnce = 512
/** @tuning count: ranges that a shard is asked for at once */
const rangesAtOnce = 4

/** Rows that are wanted of one shard in one turn of the event loop. */
interface ShardWants {
  readonly keys: Map<string, Buffer>
  readonly ranges: { readonly range: EngineRange; resolve(rows: readonly EngineRow[]): void }[]
  /** Values of the keys, once they are read. */
  readonly done: Promise<ReadonlyMap<string, Buffer | undefined>>
}

/** Checks and keeps what an engine gave for a key, undefined for no row; returns the value. */
export type TakeRow = (key: Buffer, row: EngineRow | undefined, shard: number) => Buffer | undefined

/** Reads rows at one position of all shards: what is wanted in one turn of the event loop goes in one statement to each shard. */
export class TurnReads {
  readonly #shards: AskedShards
  readonly #at: ShardPosition
  readonly #take: TakeRow
  readonly #moved: () => void
  #wanted: Map<number, ShardWants> | undefined
  #turn: Promise<void> = Promise.resolve()
  #reads = 0

  /** `moved`: called when a shard turns out to be at another position. */
  constructor(shards: AskedShards, at: ShardPosition, take: TakeRow, moved: () => void) {
    this.#shards = shards
    this.#at = at
    this.#take = take
    this.#moved = moved
  }

  /** Statements so far. */
  get reads(): number {
    return this.#reads
  }

  /** Values of rows by their keys, in their order; rejects with {@link RowsMoved} where they are of another state by now. */
  async values(keys: readonly Buffer[]): Promise<(Buffer | undefined)[]> {
    const places = keys.map((key) => {
      const place = shardOf(key, this.#shards.count)
      const wants = this.#of(place === 'every' ? this.#anyShard() : place)
      wants.keys.set(mapKey(key), key)
      return wants.done
    })
    const found = await Promise.all(places)
    return keys.map((key, i) => found[i]?.get(mapKey(key)))
  }

  /** Reads rows of a range, from all shards that may have some. */
  async range(range: EngineRange): Promise<RangePart> {
    const parts = spreadRange(range, this.#shards.count).map(({ shard, range: of }) => {
      const wants = this.#of(shard)
      return new Promise<readonly EngineRow[]>((resolve, reject) => {
        wants.ranges.push({ range: of, resolve })
        wants.done.catch(reject)
      })
    })
    return joinRanges(range, await Promise.all(parts))
  }

  /** A shard that is asked anyway: rows that are on all of them cost no statement more. */
  #anyShard(): number {
    return this.#wanted?.keys().next().value ?? 0
  }

  #of(shard: number): ShardWants {
    this.#wanted ??= this.#nextTurn()
    let wants = this.#wanted.get(shard)
    if (wants === undefined) {
      const { keys, ranges } = { keys: new Map<string, Buffer>(), ranges: [] }
      wants = { keys, ranges, done: this.#turn.then(() => this.#read(shard, keys, ranges)) }
      wants.done.catch(() => {})
      this.#wanted.set(shard, wants)
    }
    return wants
  }

  #nextTurn(): Map<number, ShardWants> {
    this.#turn = new Promise((resolve) => setImmediate(resolve)).then(() => {
      this.#wanted = undefined
    })
    return new Map()
  }

  async #read(
    shard: number,
    keys: ShardWants['keys'],
    ranges: ShardWants['ranges'],
  ): Promise<ReadonlyMap<string, Buffer | undefined>> {
    const values = new Map<string, Buffer | undefined>()
    const wanted = [...keys.values()]
    const parts = Math.max(Math.ceil(wanted.length / keysAtOnce), Math.ceil(ranges.length / rangesAtOnce))
    await Promise.all(
      Array.from({ length: parts }, (_, i) =>
        this.#readPart(
          shard,
          wanted.slice(i * keysAtOnce, (i + 1) * keysAtOnce),
          ranges.slice(i * rangesAtOnce, (i + 1) * rangesAtOnce),
          values,
        ),
      ),
    )
    return values
  }

  async #readPart(
    shard: number,
    keys: readonly Buffer[],
    ranges: ShardWants['ranges'],
    values: Map<string, Buffer | undefined>,
  ): Promise<void> {
    this.#reads++
    const question = { keys, ranges: ranges.map(({ range }) => range) }
    const answer = await this.#shards.read(shard, question, this.#at)
    if (!isAt(answer.at, this.#at)) {
      this.#moved()
      throw new RowsMoved(`shard ${shard} has other rows by now`)
    }
    const found = new Map(answer.rows.map((row) => [mapKey(row[0]), row]))
    for (const key of keys) values.set(mapKey(key), this.#take(key, found.get(mapKey(key)), shard))
    for (const [i, { resolve }] of ranges.entries()) resolve(answer.ranges[i] as readonly EngineRow[])
  }
}

/** Whether a shard is at a position. */
export function isAt(state: ShardPosition, at: ShardPosition): boolean {
  return state.sequence === at.sequence && state.stream === at.stream
}
