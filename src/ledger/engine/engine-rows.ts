import { EventEmitter } from 'node:events'
import { RuleError } from '../../base/errors/rule-error.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import type { FrozenRows, PagesOrder, Range, RowSource, RowsOptions } from '../storage/stored-rows.js'
import { meta, tables } from '../storage/rows/tables.js'
import type { Log } from '../../base/runtime/env.js'
import { AskedShards, type AskedStates } from './asked-shards.js'
import type { EngineCounts } from './engine-counts.js'
import { checkedValue, RowMiss, RowsMoved } from './engine-failures.js'
import { followingRows, rangeBeside } from './following-rows.js'
import { isAt } from './placement.js'
import type { EngineRange, EngineRow, RowEngine, ShardState } from './row-engine.js'
import { RowMemory } from './row-memory.js'
import type { RangePart } from './spread-range.js'
import { isShipped, shardOf } from './slots.js'
import { TurnReads } from './turn-reads.js'

/** @tuning bytes: rows that a gateway keeps in memory */
export const rowMemoryBytes = 256 * 1024 * 1024
/** @tuning count: rows of a range that are read at once, where the reader names no number */
const pageRows = 512
/** @tuning bytes: rows of a range that are read at once, where the reader names no number */
const pageBytes = 4 * 1024 * 1024
/** @tuning count: states in which work is tried while blocks arrive */
const mostStates = 20
/** @tuning count: rows that work may miss one after another */
const mostMisses = 4096
/** @tuning ms: time after which work that misses rows, or meets blocks, is not begun again */
const longestWork = 60_000
/** @tuning ms: wait until all shards show one state */
const patience = 2000
/** @tuning ms: from one look at the shards to the next, where none of them says that it moved */
const lookInterval = 5000
/** @tuning ms: wait before shards that show several states are asked again */
const pause = 10

export interface EngineRowsOptions {
  readonly engine: RowEngine
  readonly log: Pick<Log, 'warn' | 'info'>
  /** Bytes of rows in memory; the default is {@link rowMemoryBytes}. */
  readonly bytes?: number | undefined
}

/**
 * The rows of a node in another engine, as of the one state that all shards show. Reads at once are from memory; a row that is not there is
 * a {@link RowMiss}, upon which `settle` fetches it and runs the work again. What work found counts only where the state is still the same
 * at its end, so no answer has rows of two states.
 */
export class EngineRows implements RowSource {
  /** Emits `move` once the rows are of another state. */
  readonly events = new EventEmitter<{ move: [] }>()
  readonly #shards: AskedShards
  readonly #bytes: number
  #memory!: RowMemory
  #reads!: TurnReads
  #moving: Promise<void> | undefined
  #unwatch: (() => void)[] = []
  #age = 0
  /** When the shards were looked at last, on a clock that does not go back. */
  #lookedAt = performance.now()
  /** Looks that are under way or wanted. */
  #looks = 0
  #isApart = false
  #counts = { statements: 0, replays: 0, moves: 0, hits: 0, misses: 0 }

  private constructor({ engine, log, bytes = rowMemoryBytes }: EngineRowsOptions) {
    this.#shards = new AskedShards(engine, log)
    this.#bytes = bytes
  }

  /** Opens at the state that all shards show; `shards-apart` or `shard-down` where there is none. */
  static async open(options: EngineRowsOptions): Promise<EngineRows> {
    const rows = new EngineRows(options)
    await rows.#move()
    const { engine } = options
    const look = () => void rows.#look().catch(() => {})
    const looks = setInterval(look, lookInterval)
    const watches = Array.from({ length: engine.shards }, (_, shard) => engine.watch(shard, look))
    rows.#unwatch = [...watches, () => clearInterval(looks)]
    return rows
  }

  /** The state that the rows are of. */
  get state(): ShardState {
    return this.#memory.state
  }

  /** Seconds since the shipper was at the shard that it visited longest ago, by the clock of the engine and the time since the last look. */
  get age(): number {
    return this.#age + (performance.now() - this.#lookedAt) / 1000
  }

  /** A sentence while not all shards answer, and show one state; undefined: they do. */
  get fault(): string | undefined {
    if (this.#shards.isDown(this.state.shards)) return 'a shard and its replicas do not answer'
    return this.#isApart ? 'the shards show rows of several blocks' : undefined
  }

  /** Counters since the start. */
  get counts(): EngineCounts {
    return { ...this.#counts, statements: this.#counts.statements + this.#reads.reads, bytes: this.#memory.bytes }
  }

  get(key: Buffer): Buffer | undefined {
    return valueIn(this.#memory, key, this.#counts)
  }

  async getMany(wanted: Buffer[]): Promise<(Buffer | undefined)[]> {
    return this.#getMany(this.#memory, wanted)
  }

  load(wanted: () => readonly Buffer[]): Promise<void> {
    return this.#load(this.#memory, wanted())
  }

  rows(range: Range, options: RowsOptions = {}): Promise<[Buffer, Buffer][]> {
    return this.#rows(this.#memory, range, options)
  }

  async *scan(range: Range): AsyncGenerator<[Buffer, Buffer], void, void> {
    for await (const page of this.pages(range, pageBytes)) yield* page
  }

  pages(range: Range, bytes: number, order: PagesOrder = {}): AsyncGenerator<[Buffer, Buffer][], void, void> {
    return this.#pages(this.#memory, range, bytes, order)
  }

  freeze(): FrozenRows {
    const memory = this.#memory
    return {
      get: (key) => {
        this.#require(memory)
        return valueIn(memory, key, this.#counts)
      },
      getMany: (wanted) => this.#getMany(memory, wanted),
      load: (wanted) => this.#load(memory, wanted()),
      rows: (range, options = {}) => this.#rows(memory, range, options),
      pages: (range, bytes, order = {}) => this.#pages(memory, range, bytes, order),
      seek: (key) => this.#seek(memory, key),
      close: () => {},
    }
  }

  async settle<T>(work: () => T | Promise<T>): Promise<T> {
    let [states, misses] = [0, 0]
    const end = performance.now() + longestWork
    while (states < mostStates && misses < mostMisses && performance.now() < end) {
      await this.#moving
      const memory = this.#memory
      try {
        const found = await work()
        if (memory === this.#memory) return found
        states++
      } catch (error) {
        if (error instanceof RowMiss) {
          misses++
          await this.#replay(memory, error.key)
        } else if (memory !== this.#memory || error instanceof RowsMoved) states++
        else throw error
      }
    }
    throw new RuleError('busy', 'blocks arrive faster than this can be read; try again')
  }

  /** Fetches a row that was missed, after which the work runs again: also where the rows have moved meanwhile. */
  async #replay(memory: RowMemory, key: Buffer): Promise<void> {
    this.#counts.replays++
    await this.#fetch(memory, [key]).catch(unlessMoved)
  }

  async close(): Promise<void> {
    for (const end of this.#unwatch) end()
    this.events.removeAllListeners()
    await this.#moving?.catch(() => {})
  }

  async #getMany(memory: RowMemory, wanted: readonly Buffer[]): Promise<(Buffer | undefined)[]> {
    this.#require(memory)
    const found = new Map(wanted.map((key) => [key, memory.find(key)]))
    const missing = wanted.filter((key) => found.get(key) === undefined)
    if (missing.length === 0) return wanted.map((key) => found.get(key)?.value)
    const read = (await this.#reads.values(missing)).values()
    return wanted.map((key) => (found.get(key) ?? { value: read.next().value }).value)
  }

  async #load(memory: RowMemory, wanted: readonly Buffer[]): Promise<void> {
    this.#require(memory)
    await this.#fetch(
      memory,
      wanted.filter((key) => memory.find(key) === undefined),
    )
  }

  async #rows(memory: RowMemory, range: Range, options: RowsOptions): Promise<[Buffer, Buffer][]> {
    const { limit = Infinity, reverse = false } = options
    const rows: [Buffer, Buffer][] = []
    for await (const page of this.#pages(memory, range, pageBytes, { reverse, limit })) {
      rows.push(...page)
      if (rows.length >= limit) break
    }
    return rows
  }

  async *#pages(
    memory: RowMemory,
    range: Range,
    bytes: number,
    { reverse = false, limit = Infinity }: RowsOptions,
  ): AsyncGenerator<[Buffer, Buffer][], void, void> {
    let { gte, lt } = boundsOf(range)
    for (let left = limit; left > 0;) {
      const asked = { gte, lt, limit: Math.min(left, pageRows), bytes, ...(reverse && { reverse }) }
      const { rows, upTo } = await this.#range(memory, asked)
      const page = rows.map((row): [Buffer, Buffer] => [row[0], this.#checked(memory, row)])
      if (page.length > 0) yield page
      if (upTo === undefined) return
      left -= page.length
      if (reverse) lt = upTo
      else gte = after(upTo)
    }
  }

  /** The value of a row of a range. It is not kept: those of a scan would drive out all others. */
  #checked({ state }: RowMemory, row: EngineRow): Buffer {
    const shard = shardOf(row[0], state.shards)
    return checkedValue(row, shard === 'every' ? 0 : shard)
  }

  async #range(memory: RowMemory, range: EngineRange): Promise<RangePart> {
    this.#require(memory)
    return this.#reads.range(range)
  }

  async #seek(memory: RowMemory, key: Buffer): Promise<[Buffer, Buffer] | undefined> {
    const range = { gte: key, lt: Buffer.of((key[0] as number) + 1) }
    return (await this.#rows(memory, range, { limit: 1 }))[0]
  }

  /** Fetches rows into memory, and those that nearly every answer reads after them. */
  async #fetch(memory: RowMemory, keys: readonly Buffer[]): Promise<void> {
    for (let wanted = keys; wanted.length > 0;) {
      this.#require(memory)
      const [values, ...beside] = await Promise.all([
        this.#reads.values(wanted),
        ...wanted.flatMap((key) => this.#beside(memory, key)),
      ])
      const found = wanted.map((key, i) => [key, values[i]] as const)
      const next = [...found, ...beside.flat()].flatMap(([key, value]) => {
        return value === undefined ? [] : followingRows(key, value)
      })
      wanted = next.filter((key) => memory.find(key) === undefined)
    }
  }

  /** Rows that are read with a row, in the same statement. */
  #beside(memory: RowMemory, key: Buffer): Promise<[Buffer, Buffer][]>[] {
    const range = rangeBeside(key)
    if (range === undefined) return []
    const read = async () => {
      const { rows } = await this.#reads.range(range)
      return rows.map((row): [Buffer, Buffer] => [row[0], memory.keep(row[0], this.#checked(memory, row)) as Buffer])
    }
    return [read()]
  }

  /** Throws where the rows are of another state than that memory. */
  #require(memory: RowMemory): void {
    if (memory !== this.#memory) throw new RowsMoved('the rows are of another state by now')
  }

  async #states(): Promise<AskedStates> {
    const states = await this.#shards.states()
    this.#lookedAt = performance.now()
    this.#age = Math.max(0, ...(states.shards ?? states.all).map(({ now, written }) => (now - written) / 1000))
    return states
  }

  /** Moves where a shard shows another state. Of those who call meanwhile one look is enough, after this one. */
  async #look(): Promise<void> {
    this.#looks = Math.min(this.#looks + 1, 2)
    if (this.#looks > 1) return
    try {
      for (; this.#looks > 0; this.#looks--) {
        const { shards } = await this.#states()
        if (shards?.every((state) => isAt(state, this.state)) !== true) await this.#move()
      }
    } finally {
      this.#looks = 0
    }
  }

  /** Takes the state that all shards show, once they show one. */
  #move(): Promise<void> {
    this.#moving ??= this.#moveOn()
      .then(
        () => void (this.#isApart = false),
        (error: unknown) => {
          this.#isApart = true
          throw error
        },
      )
      .finally(() => (this.#moving = undefined))
    this.#moving.catch(() => {})
    return this.#moving
  }

  async #moveOn(): Promise<void> {
    const end = performance.now() + patience
    for (;;) {
      const state = await this.#commonState()
      try {
        if (state !== undefined) return await this.#takeState(state)
      } catch (error) {
        unlessMoved(error)
      }
      if (performance.now() > end) {
        throw new RuleError('shards-apart', 'the shards show rows of several blocks; ask again')
      }
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }

  /** Reads what nearly every answer needs of a state, and shows that one from then on. */
  async #takeState(state: ShardState): Promise<void> {
    const memory = new RowMemory(state, this.#bytes)
    const keep = (key: Buffer, row: EngineRow | undefined, shard: number) =>
      memory.keep(key, row && checkedValue(row, shard))
    const reads = new TurnReads(this.#shards, state, keep, () => void this.#move())
    const first = [tables.active.key(state.height), tables.header.key(state.hash)]
    const [active, header] = (await reads.values([...first, ...metaKeys])) as (Buffer | undefined)[]
    if (header === undefined || active === undefined || !equalBytes(active, state.hash)) {
      throw new RuleError('row-damaged', `shard ${state.number} has no block of the height that it names`)
    }
    if (this.#reads !== undefined) this.#counts.statements += this.#reads.reads
    this.#counts.moves++
    this.#memory = memory
    this.#reads = reads
    this.events.emit('move')
  }

  /** The state that all shards show; undefined: they show several, or one shows none. */
  async #commonState(): Promise<ShardState | undefined> {
    const { shards, all } = await this.#states()
    const [first] = shards ?? all
    if (first === undefined || !(shards ?? all).every((state) => isAt(state, first))) return undefined
    const known = this.#memory?.state ?? first
    const isOwn = ({ chain, layout }: ShardState) => equalBytes(known.chain, chain) && known.layout === layout
    if (shards?.every(isOwn) === true) return first
    // Some may be empty for now.
    if (shards === undefined && all.length < this.#shards.engine.shards) return undefined
    throw new RuleError(
      'shard-down',
      'the shards have rows of another chain, of another version, or other parts of them by now',
    )
  }
}

/** Rows of which there is one each: nearly every answer reads some. */
const metaKeys = Object.values(meta)
  .map(({ key }) => key)
  .filter(isShipped)

/** A row from memory; a {@link RowMiss} where it is not there. */
function valueIn(memory: RowMemory, key: Buffer, counts: { hits: number; misses: number }): Buffer | undefined {
  const known = memory.find(key)
  if (known === undefined) {
    counts.misses++
    throw new RowMiss(key)
  }
  counts.hits++
  return known.value
}

/** Throws but for rows that moved, after which the work runs again anyway. */
function unlessMoved(error: unknown): void {
  if (!(error instanceof RowsMoved)) throw error
}

/** A range with both bounds, the upper one outside. */
function boundsOf({ gte, gt, lt, lte }: Range): { gte: Buffer; lt: Buffer } {
  const from = gte ?? (gt === undefined ? Buffer.alloc(0) : after(gt))
  return { gte: from, lt: lt ?? (lte === undefined ? Buffer.of(0xff, 0xff) : after(lte)) }
}

/** The first key behind one. */
function after(key: Buffer): Buffer {
  return Buffer.concat([key, Buffer.of(0)])
}
