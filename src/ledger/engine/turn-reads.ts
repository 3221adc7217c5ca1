import { mapKey } from '../../base/primitives/bytes.js'
import { RuleError } from '../../base/errors/rule-error.js'
import type { AskedShards } from './asked-shards.js'
import { RowsMoved } from './engine-failures.js'
import type { EngineRange, EngineRow, ShardPosition } from './row-engine.js'
import { isAt } from './placement.js'
import { shardOf } from './slots.js'
import { isInOrder, joinRanges, type RangePart, spreadRange } from './spread-range.js'

/** @tuning count: keys that a shard is asked for at once */
const keysAtOnce = 512
/** @tuning count: ranges that a shard is asked for at once */
const rangesAtOnce = 4

/** @tuning count: statements that are open at a shard at once */
const openAtOnce = 4

/** Rows that are wanted of one shard in one turn of the event loop. */
interface ShardWants {
  readonly keys: Map<string, Buffer>
  readonly ranges: WantedRange[]
  /** Values of the keys, once they are read. */
  readonly done: Promise<Found>
}

/** Values of keys; an error for a row that is refused, also where others asked in the same statement. */
type Found = ReadonlyMap<string, Buffer | RuleError | undefined>

interface WantedRange {
  readonly range: EngineRange
  resolve(rows: readonly EngineRow[]): void
  reject(error: unknown): void
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
  readonly #open = new Set<Promise<void>>()
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
      const place = shardOf(key, this.#at.shards)
      const wants = this.#of(place === 'every' ? this.#anyShard() : place)
      wants.keys.set(mapKey(key), key)
      return wants.done
    })
    const found = await Promise.all(places)
    return keys.map((key, i) => {
      const value = found[i]?.get(mapKey(key))
      if (value instanceof RuleError) throw value
      return value
    })
  }

  /** Reads rows of a range, from all shards that may have some. */
  async range(range: EngineRange): Promise<RangePart> {
    const parts = spreadRange(range, this.#at.shards).map(({ shard, range: of }) => {
      const wants = this.#of(shard)
      return new Promise<readonly EngineRow[]>((resolve, reject) => {
        wants.ranges.push({ range: of, resolve, reject })
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
    this.#turn = this.#turnEnd().then(() => {
      this.#wanted = undefined
    })
    return new Map()
  }

  /** The end of this turn, or the next end of a statement while as many are open as may be: what is wanted until then goes with the next. */
  async #turnEnd(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    while (this.#open.size >= openAtOnce * this.#at.shards) await Promise.race(this.#open)
  }

  async #read(shard: number, keys: ShardWants['keys'], ranges: ShardWants['ranges']): Promise<Found> {
    const values = new Map<string, Buffer | RuleError | undefined>()
    const wanted = [...keys.values()]
    const parts = Math.max(Math.ceil(wanted.length / keysAtOnce), Math.ceil(ranges.length / rangesAtOnce))
    await Promise.all(
      Array.from({ length: parts }, (_, i) =>
        this.#counted(
          this.#readPart(
            shard,
            wanted.slice(i * keysAtOnce, (i + 1) * keysAtOnce),
            ranges.slice(i * rangesAtOnce, (i + 1) * rangesAtOnce),
            values,
          ),
        ),
      ),
    )
    return values
  }

  async #readPart(
    shard: number,
    keys: readonly Buffer[],
    ranges: ShardWants['ranges'],
    values: Map<string, Buffer | RuleError | undefined>,
  ): Promise<void> {
    this.#reads++
    const question = { keys, ranges: ranges.map(({ range }) => range) }
    const answer = await this.#shards.read(shard, question, this.#at)
    if (!isAt(answer.at, this.#at)) {
      this.#moved()
      throw new RowsMoved(`shard ${shard} has other rows by now`)
    }
    const found = new Map(answer.rows.map((row) => [mapKey(row[0]), row]))
    for (const key of keys) values.set(mapKey(key), this.#taken(key, found.get(mapKey(key)), shard))
    for (const [i, { range, resolve, reject }] of ranges.entries()) {
      const rows = answer.ranges[i]
      if (rows !== undefined && isInOrder(range, rows)) resolve(rows)
      else reject(new RuleError('row-damaged', `shard ${shard} gives other rows of a range than it was asked for`))
    }
  }

  #taken(...row: Parameters<TakeRow>): Buffer | RuleError | undefined {
    try {
      return this.#take(...row)
    } catch (error) {
      if (error instanceof RuleError) return error
      throw error
    }
  }

  /** Counts a statement among the open ones. */
  #counted(statement: Promise<void>): Promise<void> {
    const ended = statement.then(
      () => {},
      () => {},
    )
    this.#open.add(ended)
    void ended.then(() => this.#open.delete(ended))
    return statement
  }
}
