import type { Log } from '../../base/runtime/env.js'
import { EngineDown } from './engine-down.js'
import { shardDown } from './engine-failures.js'
import type { EngineAnswer, EngineQuestion, RowEngine, ShardPosition, ShardState } from './row-engine.js'

/** The shards of an engine as a gateway asks them: one that does not answer is `shard-down`, and the log has once why. */
export class AskedShards {
  readonly engine: RowEngine
  readonly #log: Pick<Log, 'warn' | 'info'>
  readonly #down = new Set<number>()

  constructor(engine: RowEngine, log: Pick<Log, 'warn' | 'info'>) {
    this.engine = engine
    this.#log = log
  }

  /** Whether a shard did not answer when it was asked last. */
  get isDown(): boolean {
    return this.#down.size > 0
  }

  get count(): number {
    return this.engine.shards
  }

  read(shard: number, question: EngineQuestion, at: ShardPosition): Promise<EngineAnswer> {
    return this.#ask(shard, () => this.engine.read(shard, question, at))
  }

  /** The states of all shards. */
  states(): Promise<(ShardState | undefined)[]> {
    const numbers = Array.from({ length: this.count }, (_, shard) => shard)
    return Promise.all(numbers.map((shard) => this.#ask(shard, () => this.engine.state(shard))))
  }

  async #ask<T>(shard: number, ask: () => Promise<T>): Promise<T> {
    try {
      const answer = await ask()
      if (this.#down.delete(shard)) this.#log.info({ shard }, 'the shard answers again')
      return answer
    } catch (error) {
      if (!(error instanceof EngineDown)) throw error
      if (!this.#down.has(shard)) this.#log.warn({ shard, error: error.message }, 'a shard does not answer')
      this.#down.add(shard)
      throw shardDown(shard)
    }
  }
}
