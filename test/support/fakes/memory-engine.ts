import { mapKey } from '../../../src/base/primitives/bytes.js'
import { UserError } from '../../../src/base/errors/rule-error.js'
import { hasRow } from '../../../src/ledger/engine/slots.js'
import { isAt, isPlace } from '../../../src/ledger/engine/placement.js'
import { EngineDown } from '../../../src/ledger/engine/engine-down.js'
import type {
  EngineAnswer,
  EngineQuestion,
  EngineRange,
  EngineRow,
  EngineStep,
  EngineSweep,
  LoadedShard,
  ShardLoad,
  ShardPosition,
  ShardState,
  ShardWriter,
} from '../../../src/ledger/engine/row-engine.js'

/** Calls of an engine, and moments of them: `applied`, `finished` and `swept` are those at which the answer can still get lost. */
export type EngineMoment =
  | 'state'
  | 'read'
  | 'apply'
  | 'applied'
  | 'load'
  | 'put'
  | 'ready'
  | 'finish'
  | 'finished'
  | 'sweep'
  | 'swept'

/** Rows that a sweep looks at. */
const sweptAtOnce = 50

interface Shard {
  readonly rows: Map<string, EngineRow>
  /** In order of keys; undefined after a change. */
  sorted: EngineRow[] | undefined
  state: ShardState
}

/** A database, which may have a shard. */
class MemoryDatabase {
  shard: Shard | undefined
  /** A replica that stays as it was. */
  held: Shard | undefined
  isLoading = false
  readonly watchers = new Set<() => void>()

  move(shard: Shard): void {
    this.shard = shard
    for (const moved of this.watchers) moved()
  }
}

/** Shards in memory. Tests make its calls fail, wait or overtake each other through {@link at}, and hold copies back. */
export class MemoryEngine implements ShardWriter {
  readonly #databases: readonly MemoryDatabase[]
  /** Called at each moment; one that throws or rejects makes the call fail, one that waits delays it. */
  at: (moment: EngineMoment, shard: number) => void | Promise<void> = () => {}
  /** Clock of the engine in Unix milliseconds. */
  now: () => number = Date.now
  readonly calls: EngineMoment[] = []

  constructor(databases: number | readonly MemoryDatabase[] = 1) {
    this.#databases =
      typeof databases === 'number' ? Array.from({ length: databases }, () => new MemoryDatabase()) : databases
  }

  /** The same databases with so many empty ones behind each that there are so many times as many. */
  spread(times: number): MemoryEngine {
    const behind = () => Array.from({ length: times - 1 }, () => new MemoryDatabase())
    return new MemoryEngine(this.#databases.flatMap((database) => [database, ...behind()]))
  }

  /** The same databases in another order; undefined: an empty one. */
  arranged(order: readonly (number | undefined)[]): MemoryEngine {
    return new MemoryEngine(order.map((one) => (one === undefined ? new MemoryDatabase() : this.#at(one))))
  }

  /** The same databases, and behind them those of another list. */
  beside(other: MemoryEngine): MemoryEngine {
    return new MemoryEngine([...this.#databases, ...other.#databases])
  }

  get shards(): number {
    return this.#databases.length
  }

  async state(shard: number): Promise<ShardState | undefined> {
    await this.#moment('state', shard)
    const found = this.#at(shard).shard
    return found && { ...found.state, now: this.now() }
  }

  async read(shard: number, question: EngineQuestion, wanted?: ShardPosition): Promise<EngineAnswer> {
    await this.#moment('read', shard)
    const { held } = this.#at(shard)
    const isThere = (one: Shard) => wanted !== undefined && isAt(one.state, wanted)
    const found = held !== undefined && isThere(held) ? held : this.#at(shard).shard
    if (found === undefined) throw new EngineDown(shard, 'the shard has not been loaded')
    const rows = question.keys.map((key) => found.rows.get(mapKey(key))).filter((row) => row !== undefined)
    const ranges = question.ranges.map((range) => rowsIn(found, range))
    return { at: { ...found.state, now: this.now() }, rows, ranges }
  }

  async apply(shard: number, { epoch, from, to, puts, dels }: EngineStep): Promise<'applied' | 'elsewhere'> {
    await this.#moment('apply', shard)
    const found = this.#at(shard).shard
    const { state } = found ?? {}
    const isThere =
      state?.stream === from.stream && state.sequence === from.sequence && state.digest.equals(from.digest)
    if (found === undefined || state?.epoch !== epoch || !isThere) return 'elsewhere'
    const rows = new Map(found.rows)
    for (const [key, sealed] of puts) rows.set(mapKey(key), [Buffer.from(key), Buffer.from(sealed)])
    for (const key of dels) rows.delete(mapKey(key))
    const moved = { ...state, ...to, written: this.now() }
    this.#at(shard).move({ rows, sorted: undefined, state: moved })
    await this.#moment('applied', shard)
    return 'applied'
  }

  async load(shard: number): Promise<ShardLoad> {
    await this.#moment('load', shard)
    const database = this.#at(shard)
    if (database.isLoading) throw new UserError('another process fills the shard: let it finish')
    database.isLoading = true
    const rows = new Map<string, EngineRow>()
    return {
      put: async (some) => {
        await this.#moment('put', shard)
        for (const [key, sealed] of some) rows.set(mapKey(key), [Buffer.from(key), Buffer.from(sealed)])
      },
      ready: () => this.#moment('ready', shard),
      finish: async (at: LoadedShard) => {
        await this.#moment('finish', shard)
        const state = { ...at, swept: at.shards, written: this.now(), now: this.now() }
        this.#at(shard).move({ rows, sorted: undefined, state })
        await this.#moment('finished', shard)
      },
      close: async () => void (database.isLoading = false),
    }
  }

  async sweep(shard: number, from: Buffer, of: EngineSweep): Promise<Buffer | undefined> {
    await this.#moment('sweep', shard)
    const found = this.#at(shard).shard
    if (found === undefined || !isPlace(found.state, of) || found.state.epoch !== of.epoch) return undefined
    const some = sortedRows(found).filter(([key]) => from.compare(key) <= 0)
    const others = some.slice(0, sweptAtOnce).filter(([key]) => !hasRow(of, key))
    const rows = new Map(found.rows)
    for (const [key] of others) rows.delete(mapKey(key))
    const next = some[sweptAtOnce]?.[0]
    const { swept, shards } = found.state
    this.#at(shard).shard = {
      rows,
      sorted: undefined,
      state: { ...found.state, swept: next === undefined ? shards : swept },
    }
    await this.#moment('swept', shard)
    return next
  }

  watch(shard: number, moved: () => void): () => void {
    const { watchers } = this.#at(shard)
    watchers.add(moved)
    return () => void watchers.delete(moved)
  }

  async close(): Promise<void> {
    for (const { watchers } of this.#databases) watchers.clear()
  }

  /** Begins or ends a replica that stays as it is: only a reader that wants its position gets its rows. */
  hold(shard: number, isHeld: boolean): void {
    const database = this.#at(shard)
    database.held = isHeld ? database.shard : undefined
  }

  /** Makes the replica that was held take the writes. */
  promote(shard: number): void {
    const database = this.#at(shard)
    database.shard = database.held
    this.hold(shard, false)
  }

  /** All rows of a shard, in order of keys. */
  rows(shard: number): readonly EngineRow[] {
    const found = this.#at(shard).shard
    return found === undefined ? [] : sortedRows(found)
  }

  /** Empties a shard. */
  lose(shard: number): void {
    this.#at(shard).shard = undefined
  }

  /** Changes a row behind the back of all. */
  spoil(shard: number, key: Buffer, sealed: Buffer): void {
    const found = this.#at(shard).shard
    found?.rows.set(mapKey(key), [key, sealed])
    if (found !== undefined) found.sorted = undefined
  }

  async #moment(moment: EngineMoment, shard: number): Promise<void> {
    this.calls.push(moment)
    await this.at(moment, shard)
  }

  #at(shard: number): MemoryDatabase {
    const database = this.#databases[shard]
    if (database === undefined) throw new RangeError(`there is no database ${shard}`)
    return database
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
