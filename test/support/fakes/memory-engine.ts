import { mapKey } from '../../../src/base/primitives/bytes.js'
import { UserError } from '../../../src/base/errors/rule-error.js'
import { EngineDown } from '../../../src/ledger/engine/engine-down.js'
import type {
  EngineAnswer,
  EngineQuestion,
  EngineRange,
  EngineRow,
  EngineStep,
  LoadedShard,
  ShardLoad,
  ShardPosition,
  ShardState,
  ShardWriter,
} from '../../../src/ledger/engine/row-engine.js'

/** Calls of an engine, and moments of them: `applied` and `finished` are those at which the answer can still get lost. */
export type EngineMoment = 'state' | 'read' | 'apply' | 'applied' | 'load' | 'put' | 'ready' | 'finish' | 'finished'

interface Shard {
  readonly rows: Map<string, EngineRow>
  /** In order of keys; undefined after a change. */
  sorted: EngineRow[] | undefined
  state: ShardState
}

/** Shards in memory. Tests make its calls fail, wait or overtake each other through {@link at}, and hold copies back. */
export class MemoryEngine implements ShardWriter {
  readonly #shards: (Shard | undefined)[]
  readonly #held = new Map<number, Shard>()
  readonly #watchers = new Map<() => void, number>()
  readonly #loading = new Set<number>()
  /** Called at each moment; one that throws or rejects makes the call fail, one that waits delays it. */
  at: (moment: EngineMoment, shard: number) => void | Promise<void> = () => {}
  /** Clock of the engine in Unix milliseconds. */
  now: () => number = Date.now
  readonly calls: EngineMoment[] = []

  constructor(shards = 1) {
    this.#shards = Array.from({ length: shards }, () => undefined)
  }

  get shards(): number {
    return this.#shards.length
  }

  async state(shard: number): Promise<ShardState | undefined> {
    await this.#moment('state', shard)
    const found = this.#shards[shard]
    return found && { ...found.state, now: this.now() }
  }

  async read(shard: number, question: EngineQuestion, wanted?: ShardPosition): Promise<EngineAnswer> {
    await this.#moment('read', shard)
    const held = this.#held.get(shard)
    const isThere = (one: Shard) => wanted?.stream === one.state.stream && wanted.sequence === one.state.sequence
    const found = held !== undefined && isThere(held) ? held : this.#shards[shard]
    if (found === undefined) throw new EngineDown(shard, 'the shard has not been loaded')
    const rows = question.keys.map((key) => found.rows.get(mapKey(key))).filter((row) => row !== undefined)
    const ranges = question.ranges.map((range) => rowsIn(found, range))
    return { at: { ...found.state, now: this.now() }, rows, ranges }
  }

  async apply(shard: number, { epoch, from, to, puts, dels }: EngineStep): Promise<'applied' | 'elsewhere'> {
    await this.#moment('apply', shard)
    const found = this.#shards[shard]
    const { state } = found ?? {}
    const isThere =
      state?.stream === from.stream && state.sequence === from.sequence && state.digest.equals(from.digest)
    if (found === undefined || state?.epoch !== epoch || !isThere) return 'elsewhere'
    const rows = new Map(found.rows)
    for (const [key, sealed] of puts) rows.set(mapKey(key), [Buffer.from(key), Buffer.from(sealed)])
    for (const key of dels) rows.delete(mapKey(key))
    const { stream, sequence, digest, height, hash, time } = to
    const moved = { ...state, stream, sequence, digest, height, hash, time, written: this.now() }
    this.#shards[shard] = { rows, sorted: undefined, state: moved }
    this.#note(shard)
    await this.#moment('applied', shard)
    return 'applied'
  }

  async load(shard: number): Promise<ShardLoad> {
    await this.#moment('load', shard)
    if (this.#loading.has(shard)) throw new UserError('another process fills the shard: let it finish')
    this.#loading.add(shard)
    const rows = new Map<string, EngineRow>()
    return {
      put: async (some) => {
        await this.#moment('put', shard)
        for (const [key, sealed] of some) rows.set(mapKey(key), [Buffer.from(key), Buffer.from(sealed)])
      },
      ready: () => this.#moment('ready', shard),
      finish: async (at: LoadedShard) => {
        await this.#moment('finish', shard)
        this.#shards[shard] = { rows, sorted: undefined, state: { ...at, written: this.now(), now: this.now() } }
        this.#note(shard)
        await this.#moment('finished', shard)
      },
      close: async () => void this.#loading.delete(shard),
    }
  }

  watch(shard: number, moved: () => void): () => void {
    this.#watchers.set(moved, shard)
    return () => void this.#watchers.delete(moved)
  }

  async close(): Promise<void> {
    this.#watchers.clear()
  }

  /** Begins or ends a replica that stays as it is: only a reader that wants its position gets its rows. */
  hold(shard: number, isHeld: boolean): void {
    const now = this.#shards[shard]
    if (isHeld && now !== undefined) this.#held.set(shard, now)
    else this.#held.delete(shard)
  }

  /** Makes the replica that was held take the writes. */
  promote(shard: number): void {
    this.#shards[shard] = this.#held.get(shard)
    this.hold(shard, false)
  }

  /** All rows of a shard, in order of keys. */
  rows(shard: number): readonly EngineRow[] {
    const found = this.#shards[shard]
    return found === undefined ? [] : sortedRows(found)
  }

  /** Empties a shard. */
  lose(shard: number): void {
    this.#shards[shard] = undefined
  }

  /** Changes a row behind the back of all. */
  spoil(shard: number, key: Buffer, sealed: Buffer): void {
    const found = this.#shards[shard]
    found?.rows.set(mapKey(key), [key, sealed])
    if (found !== undefined) found.sorted = undefined
  }

  async #moment(moment: EngineMoment, shard: number): Promise<void> {
    this.calls.push(moment)
    await this.at(moment, shard)
  }

  #note(shard: number): void {
    for (const [moved, of] of this.#watchers) if (of === shard) moved()
  }
}

function sortedRows(shard: Shard): EngineRow[] {
  shard.sorted ??= [...shard.rows.values()].sort(([a], [b]) => a.compare(b))
  return shard.sorted
}

function rowsIn(shard: Shard, { gte, lt, limit, bytes, reverse = false }: EngineRange): EngineRow[] {
  const rows = sortedRows(shard)
  const inside = rows.slice(firstNotBelow(rows, gte), firstNotBelow(rows, lt))
  const found: EngineRow[] = []
  let size = 0
  for (const row of reverse ? inside.reverse() : inside) {
    if (found.length === limit || size >= bytes) break
    found.push(row)
    size += row[1].length
  }
  return found
}

function firstNotBelow(rows: readonly EngineRow[], key: Buffer): number {
  let [low, high] = [0, rows.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((rows[middle] as EngineRow)[0].compare(key) < 0) low = middle + 1
    else high = middle
  }
  return low
}
