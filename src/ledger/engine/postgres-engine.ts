import { UserError } from '../../base/errors/rule-error.js'
import { loadPostgres } from './postgres-host.js'
import { PostgresShard } from './postgres-shard.js'
import { PostgresWatch } from './postgres-watch.js'
import type {
  EngineAnswer,
  EngineQuestion,
  EngineStep,
  EngineSweep,
  ShardLoad,
  ShardPosition,
  ShardState,
  ShardWriter,
} from './row-engine.js'
import { slots } from './slots.js'

/** Shards in PostgreSQL 15 or newer, one database each; a URL names one shard with all hosts that have it. */
export class PostgresEngine implements ShardWriter {
  readonly #shards: readonly PostgresShard[]
  readonly #watches = new Set<PostgresWatch>()

  private constructor(shards: readonly PostgresShard[]) {
    this.#shards = shards
  }

  /** Connects when it is asked. A UserError for a URL of another form, and where the package pg is not installed. */
  static async open(urls: readonly string[]): Promise<PostgresEngine> {
    if (urls.length === 0 || urls.length > slots) throw new UserError(`there may be from 1 to ${slots} shards`)
    const postgres = await loadPostgres()
    return new PostgresEngine(urls.map((url, number) => new PostgresShard(postgres, number, url)))
  }

  get shards(): number {
    return this.#shards.length
  }

  state(shard: number): Promise<ShardState | undefined> {
    return this.#shard(shard).state()
  }

  read(shard: number, question: EngineQuestion, wanted?: ShardPosition): Promise<EngineAnswer> {
    return this.#shard(shard).read(question, wanted)
  }

  apply(shard: number, step: EngineStep): Promise<'applied' | 'elsewhere'> {
    return this.#shard(shard).apply(step)
  }

  load(shard: number): Promise<ShardLoad> {
    return this.#shard(shard).load()
  }

  sweep(shard: number, from: Buffer, of: EngineSweep): Promise<Buffer | undefined> {
    return this.#shard(shard).sweep(from, of)
  }

  watch(shard: number, moved: () => void): () => void {
    const watch = new PostgresWatch(this.#shard(shard), moved)
    this.#watches.add(watch)
    return () => {
      watch.close()
      this.#watches.delete(watch)
    }
  }

  async close(): Promise<void> {
    for (const watch of this.#watches) watch.close()
    await Promise.all(this.#shards.map((shard) => shard.close()))
  }

  #shard(number: number): PostgresShard {
    const shard = this.#shards[number]
    if (shard === undefined) throw new RangeError(`there is no shard ${number}`)
    return shard
  }
}
