import type { Log } from '../../base/runtime/env.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { EngineDown } from './engine-down.js'
import { shardDown } from './engine-failures.js'
import { databaseOf, placed } from './placement.js'
import type { EngineAnswer, EngineQuestion, RowEngine, ShardPosition, ShardState } from './row-engine.js'

/** States of the databases of an engine. */
export interface AskedStates {
  /** The states of the shards that they form, in their order; undefined: they form none. */
  readonly shards: readonly ShardState[] | undefined
  /** The states of all that have one. */
  readonly all: readonly ShardState[]
}

/** The shards of an engine as a gateway asks them: one that does not answer is `shard-down`, and the log has once why. */
export class AskedShards {
  readonly engine: RowEngine
  readonly #log: Pick<Log, 'warn' | 'info'>
  readonly #down = new Set<number>()

  constructor(engine: RowEngine, log: Pick<Log, 'warn' | 'info'>) {
    this.engine = engine
    this.#log = log
  }

  /** Whether one of so many shards did not answer when it was asked last. */
  isDown(shards: number): boolean {
    // Every request asks, of an engine that is well.
    if (this.#down.size === 0) return false
    return Array.from({ length: shards }, (_, shard) => this.#database(shard, shards)).some((one) =>
      this.#down.has(one),
    )
  }

  read(shard: number, question: EngineQuestion, at: ShardPosition): Promise<EngineAnswer> {
    const database = this.#database(shard, at.shards)
    return this.#ask(database, () => this.engine.read(database, question, at))
  }

  /** `shard-down` where a database does not answer, and the others form no shards without it. */
  async states(): Promise<AskedStates> {
    let failure: RuleError | undefined
    const ask = async (database: number) => {
      try {
        return await this.#ask(database, () => this.engine.state(database))
      } catch (error) {
        if (!(error instanceof RuleError)) throw error
        failure = error
        return undefined
      }
    }
    const states = await Promise.all(Array.from({ length: this.engine.shards }, (_, database) => ask(database)))
    const shards = placed(states)
    if (shards === undefined && failure !== undefined) throw failure
    return { shards, all: states.filter((state) => state !== undefined) }
  }

  #database(shard: number, shards: number): number {
    return databaseOf(shard, shards, this.engine.shards)
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
