import type { ShardWriter } from '../engine/row-engine.js'
import type { Member } from './member.js'

/** Deletes the rows that shards had before they were divided, some at a time between their steps. */
export class Sweeper {
  readonly #engine: Pick<ShardWriter, 'sweep'>
  /** The key from which a shard is to be looked at, by its database. */
  readonly #from = new Map<number, Buffer>()

  constructor(engine: Pick<ShardWriter, 'sweep'>) {
    this.#engine = engine
  }

  /** Looks at some rows of each shard; false: nothing is left. */
  async sweep(members: readonly Member[]): Promise<boolean> {
    const unswept = members.filter(({ state, place }) => state.shards === place.shards && state.swept < state.shards)
    await Promise.all(unswept.map((member) => this.#sweepSome(member)))
    return unswept.length > 0
  }

  async #sweepSome(member: Member): Promise<void> {
    const { database, state } = member
    const next = await this.#engine.sweep(database, this.#from.get(database) ?? Buffer.alloc(0), state)
    if (next === undefined) {
      this.#from.delete(database)
      member.state = { ...state, swept: state.shards }
    } else this.#from.set(database, next)
  }
}
